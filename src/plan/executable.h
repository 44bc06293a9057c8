// A plan ready to be called: guards and size expressions compiled to flat code, kernels resolved.
#pragma once
#include <stax/tensor/array.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "runtime/module.h"

namespace stax::plan {

// A host scalar as it is passed: its raw bits and their type (f64, i64, boolean).
struct ScalarValue {
  Dtype dtype = Dtype::f64;
  std::uint64_t bits = 0;

  static ScalarValue of(double v) { return {Dtype::f64, std::bit_cast<std::uint64_t>(v)}; }
  static ScalarValue of(std::int64_t v) { return {Dtype::i64, static_cast<std::uint64_t>(v)}; }
  static ScalarValue of(bool v) { return {Dtype::boolean, v ? 1u : 0u}; }
};

struct CallArgs {
  std::span<const Array* const> tensors;
  std::span<const ScalarValue> scalars;
};

// Why a call does not fit.
struct GuardFailure {
  int guard = -1;    // position in plan().guards; -1: rank, dtype, device, or the number of arguments
  std::string text;  // "y.size(0) == s0 failed: y.size(0) is 32, s0 is 64 (equal sizes share a symbol, main.cpp:9)"
};

// Immutable; check and run may be called by several threads at once, and need no heap memory once warm apart from the
// storages of outputs and temporaries (of the caching allocator).
class Executable {
 public:
  // `modules` in the order that the kernels' `module` fields count. Verifies the plan.
  Executable(Plan plan, std::vector<std::shared_ptr<runtime::Module>> modules);
  ~Executable();
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;

  const Plan& plan() const;

  // Whether every guard holds. `why`, when given, is filled on failure only (that costs time and memory).
  bool check(const CallArgs& args, GuardFailure* why = nullptr) const;

  // The call; `outputs` has one element an output, replaced. The caller has checked. UserError for a written input in
  // read-only memory (before anything is changed), an index out of range or an integer division by zero in a kernel,
  // DeviceError when memory runs out.
  void run(const CallArgs& args, std::span<Array> outputs) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace stax::plan
