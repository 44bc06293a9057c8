// Size expressions as flat code over 64-bit registers.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolic/expr.h"

namespace stax::plan {

// Registers 0 … n-1 hold the symbols; constants are part of the initial registers. Equal sub-expressions share a
// register.
class ExprCode {
 public:
  explicit ExprCode(std::span<const symbolic::Expr> symbols);

  // The register that holds the value once the code up to here has run. Booleans are 0 or 1.
  int add(symbolic::Expr e) { return add(e.node()); }
  int add(symbolic::Bool b) { return add(b.node()); }
  int size() const { return static_cast<int>(code_.size()); }  // number of instructions
  const std::vector<std::int64_t>& initial() const { return initial_; }

  // Runs instructions [begin, end). False at an overflow or a division by zero.
  bool run(std::int64_t* registers, int begin, int end) const;

 private:
  struct Instruction {
    symbolic::Op op;
    std::int32_t to, a, b;
  };
  int add(const symbolic::Node* node);
  int emit(symbolic::Op op, int a, int b);

  std::vector<Instruction> code_;
  std::vector<std::int64_t> initial_;
  std::unordered_map<const symbolic::Node*, int> register_of_;
};

}  // namespace stax::plan
