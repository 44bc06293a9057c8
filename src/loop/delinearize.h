// Inverting a flat address: from the element of a strided buffer back to the axes that wrote it.
#pragma once
#include "loop/domain.h"

namespace stax::loop {

// Values of `axes` at which `stored` (linear in the axes) equals `address`, an expression over the domain.
// Without divisions: found by matching terms with strides, and returned only when every index provably lies in its
// axis; the stored layout does not overlap itself, so the answer is the only one. `covers`: every in-bounds address was
// written by the axes; then, if `allow_division`, an address of a nested layout is taken apart by divisions instead.
std::optional<std::vector<Expr>> delinearize(Expr address, Expr stored, const std::vector<Axis>& axes,
                                             const Domain& domain, bool covers, bool allow_division);

}  // namespace stax::loop
