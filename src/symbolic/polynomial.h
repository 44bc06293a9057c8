// Arithmetic on canonical sums of products. These keep the canonical form but apply no rule for divisions.
#pragma once
#include "symbolic/node.h"

namespace stax::symbolic {

Expr add_polynomials(Expr a, Expr b);
Expr multiply_polynomials(Expr a, Expr b);

inline std::int64_t coefficient_of(const Node* term) { return term->value; }
// The constant part of a sum.
std::int64_t constant_part(Expr e);
// All terms but the constant.
std::span<const Node* const> varying_terms(Expr e);
// The term of `e` with this monomial; null when absent.
const Node* find_term(Expr e, const Node* monomial);
// Greatest common divisor of the coefficients of the varying terms; 0 when there are none.
std::int64_t content(Expr e);
// Each coefficient and the constant divided by `g`, which divides them exactly.
Expr divide_coefficients(Expr e, std::int64_t g);
// term / divisor as monomials with coefficients; null when not exact. `divisor` is no sum.
Expr divide_term(const Node* term, const Node* divisor);
// Greatest common monomial of two terms, with the gcd of the coefficients.
Expr gcd_term(const Node* a, const Node* b);

// n = quotient·d + remainder.
struct Division {
  Expr quotient, remainder;
};
// Polynomial division by the leading term of d; the quotient takes every term that the leading term divides, and, for a
// constant d, the floored part of the constant.
Division divide_polynomials(Expr n, Expr d);

// Sum of some terms, in order, and a constant.
Expr sum_of_terms(Context& context, std::span<const Node* const> terms, std::int64_t constant);

}  // namespace stax::symbolic
