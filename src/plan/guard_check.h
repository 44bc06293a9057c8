// A plan's guards as flat code.
#pragma once
#include <algorithm>
#include <vector>

#include "plan/executable.h"
#include "plan/expr_code.h"
#include "plan/thread_scratch.h"

namespace stax::plan {

class GuardCheck {
 public:
  // The plan must outlive the object and stay where it is.
  explicit GuardCheck(const Plan& plan);
  bool run(const CallArgs& args, GuardFailure* why) const;
  // For arguments that fit: calls `holds` with the position of each guard that holds, until it returns true; whether it
  // did.
  template <class F>
  bool any(const CallArgs& args, F&& holds) const;

 private:
  // One test; `code` is run before it.
  struct Test {
    Guard::Kind kind;
    Guard::Comparison comparison;
    Fact fact;
    std::int64_t value;  // fact with a constant, alignment, scalar bits
    int reg;             // of the expression; -1: `value`
    int code_begin, code_end;
    int a, b;
    int guard;
  };
  bool passes(const Test& t, const CallArgs& args, std::int64_t* registers) const;
  bool inputs_fit(const CallArgs& args, GuardFailure* why) const;
  bool bind(const CallArgs& args, std::int64_t* registers, GuardFailure* why) const;
  std::string describe(const Test& t, const CallArgs& args, const std::int64_t* registers) const;

  const Plan& plan_;
  ExprCode code_;
  std::vector<Test> tests_;
};

template <class F>
bool GuardCheck::any(const CallArgs& args, F&& holds) const {
  const auto& initial = code_.initial();
  ThreadScratch scratch(initial.size() * sizeof(std::int64_t));
  auto* registers = static_cast<std::int64_t*>(scratch.data());
  std::copy(initial.begin(), initial.end(), registers);
  if (!bind(args, registers, nullptr) || !code_.run(registers, 0, code_.size())) return false;
  for (const Test& t : tests_)
    if (passes(t, args, registers) && holds(t.guard)) return true;
  return false;
}

// Registers of the plan's symbols, in the order of the bindings.
std::vector<symbolic::Expr> bound_symbols(const Plan& plan);

}  // namespace stax::plan
