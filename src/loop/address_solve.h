// For which inner indices does a store write the element that a load reads, within one unit?
#pragma once
#include <optional>
#include <vector>

#include "loop/ir.h"

namespace stax::loop {

struct Solution {
  bool same = false;           // every inner axis of the store stands for itself
  symbolic::SymbolMap values;  // inner axis of the store → expression over the load's axes
};

// Solves store(outer, inner) == load for the inner axes of the store, inside their extents. Null when that is not
// possible for every index of the load or cannot be shown: then other units may be involved.
std::optional<Solution> solve(const Program& program, Expr store, const std::vector<Axis>& inner, Expr load,
                              const std::vector<Axis>& outer, const std::vector<Axis>& load_inner);

// a / b when b divides a exactly as polynomials, else null.
Expr exact_quotient(Expr a, Expr b);

}  // namespace stax::loop
