// Construction by rules. Each rule is an identity over all integers under its condition; its text is checked by the
// tests (all small values, and z3), and `apply` returns null where it does not match.
#pragma once
#include <span>

#include "symbolic/prover.h"

namespace stax::symbolic {

struct Rule {
  std::string_view from, to, when;
  Expr (*apply)(Expr a, Expr b, const Query& q);
};

std::span<const Rule> floordiv_rules();
std::span<const Rule> floormod_rules();
std::span<const Rule> ceildiv_rules();
std::span<const Rule> truncdiv_rules();
std::span<const Rule> truncmod_rules();
std::span<const Rule> min_rules();
std::span<const Rule> max_rules();

Expr make_floordiv(Expr a, Expr b, const Query& q);
Expr make_floormod(Expr a, Expr b, const Query& q);
Expr make_ceildiv(Expr a, Expr b, const Query& q);
Expr make_truncdiv(Expr a, Expr b, const Query& q);
Expr make_truncmod(Expr a, Expr b, const Query& q);
Expr make_min(Expr a, Expr b, const Query& q);
Expr make_max(Expr a, Expr b, const Query& q);
Bool make_eq(Expr a, Expr b, const Query& q);
Bool make_le(Expr a, Expr b, const Query& q);
Bool make_lt(Expr a, Expr b, const Query& q);
// d >= 0.
Bool make_nonneg(Expr d, const Query& q);

// Rules for sums that hold divisions and remainders: exact products, x from its quotient and remainder, and remainders.
Expr simplify_sum(Expr e, const Query& q);

// Sum and product that also apply the rules above under `q`.
Expr sum(Expr a, Expr b, const Query& q);
Expr times(Expr a, Expr b, const Query& q);
Expr difference(Expr a, Expr b, const Query& q);

// The first rule that matches, else the plain node.
Expr apply_rules(std::span<const Rule> rules, Op op, Expr a, Expr b, const Query& q);
Expr plain_node(Op op, Expr a, Expr b);
[[noreturn]] void throw_division_by_zero(Op op, Expr dividend);

}  // namespace stax::symbolic
