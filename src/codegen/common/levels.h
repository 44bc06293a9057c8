// Where in a loop nest a value can be computed: invariants leave the loops that they do not depend on.
#pragma once
#include <functional>
#include <span>

#include "loop/ir.h"

namespace stax::codegen {

// Levels of the values of one phase in a nest of loops, outermost first: level d is inside the first d loops.
class Levels {
 public:
  // `unit_level(v)`: level of a value of an earlier phase, 0 unless it varies with a loop of the nest.
  Levels(const loop::Kernel& k, const loop::Phase& p, std::vector<loop::Expr> loops,
         std::function<int(loop::ValueId)> unit_level);
  int depth() const { return static_cast<int>(loops_.size()); }
  int of(loop::ValueId v) const;
  int of(loop::Expr e) const;

 private:
  const loop::Kernel& kernel_;
  const loop::Phase& phase_;
  std::vector<loop::Expr> loops_;
  std::function<int(loop::ValueId)> unit_level_;
  std::unordered_map<loop::Expr, loop::ValueId> bounded_;  // symbol → value
  std::vector<int> level_;
};

}  // namespace stax::codegen
