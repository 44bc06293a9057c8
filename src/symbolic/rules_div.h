// Matches shared by the rules of the divisions.
#pragma once
#include "symbolic/polynomial.h"
#include "symbolic/rules.h"

namespace stax::symbolic {

// The one quotient that a / d rounded down takes, when it is the same for all values.
std::optional<std::int64_t> constant_floor_quotient(Expr n, Expr d, const Query& q);

// n = d·quotient + remainder with quotient != 0, in the cases where splitting it off is simpler: d is a single term, or
// the remainder lies within [0, d).
std::optional<Division> split_multiples(Expr n, Expr d, const Query& q);

// n = g·a + r and d = g·c with 0 <= r < g, c > 0, g > 1 or symbolic.
struct SmallRemainder {
  Expr g, a, c, r;
};
std::optional<SmallRemainder> split_small_remainder(Expr n, Expr d, const Query& q);

// n = k·a and d = k·b for a nonzero k other than 1.
struct CommonFactor {
  Expr k, a, b;
};
std::optional<CommonFactor> common_factor(Expr n, Expr d, const Query& q);

// n = x + r where x, neither zero nor n itself, holds the terms that are multiples of the constant d without showing
// it.
std::optional<Division> split_known_multiples(Expr n, Expr d, const Query& q);

// d reads better negated: a negative constant, or a negative leading coefficient.
bool is_negative_form(Expr d);

}  // namespace stax::symbolic
