#include "symbolic/rules_div.h"

namespace stax::symbolic {

namespace {
Expr zero(Expr like) { return like.context().constant(0); }
bool same_signs(Expr n, Expr d, const Query& q) {
  return (q.positive(d) && q.nonneg(n)) || (q.positive(-d) && q.nonneg(-n));
}
bool mixed_signs(Expr n, Expr d, const Query& q) {
  return (q.positive(d) && q.nonneg(-n)) || (q.positive(-d) && q.nonneg(n));
}

// ---- truncdiv
Expr div_negate_divisor(Expr n, Expr d, const Query& q) {
  return is_negative_form(d) ? -make_truncdiv(n, -d, q) : Expr();
}
Expr div_negate_dividend(Expr n, Expr d, const Query& q) {
  return is_negative_form(n) ? -make_truncdiv(-n, d, q) : Expr();
}
Expr div_same_signs(Expr n, Expr d, const Query& q) { return same_signs(n, d, q) ? make_floordiv(n, d, q) : Expr(); }
Expr div_mixed_signs(Expr n, Expr d, const Query& q) { return mixed_signs(n, d, q) ? make_ceildiv(n, d, q) : Expr(); }
Expr div_exact(Expr n, Expr d, const Query& q) {
  if (auto c = d.constant(); c && q.multiple(n) % *c == 0) return make_floordiv(n, d, q);
  Division r = divide_polynomials(n, d);
  return r.remainder.is_constant(0) && q.nonzero(d) ? r.quotient : Expr();
}
Expr div_small(Expr n, Expr d, const Query& q) {
  return q.positive(d) && q.less(n, d) && q.less(-n, d) ? zero(n) : Expr();
}
Expr div_cancel(Expr n, Expr d, const Query& q) {
  auto c = common_factor(n, d, q);
  return c ? make_truncdiv(c->a, c->b, q) : Expr();
}
Expr div_nested(Expr n, Expr d, const Query& q) {
  if (n.op() != Op::truncdiv || !q.nonzero(d) || !q.nonzero(n.operand(1))) return {};
  return make_truncdiv(n.operand(0), times(n.operand(1), d, q), q);
}

// ---- truncmod
Expr mod_negate_divisor(Expr n, Expr d, const Query& q) {
  return is_negative_form(d) ? make_truncmod(n, -d, q) : Expr();
}
Expr mod_negate_dividend(Expr n, Expr d, const Query& q) {
  return is_negative_form(n) ? -make_truncmod(-n, d, q) : Expr();
}
Expr mod_same_signs(Expr n, Expr d, const Query& q) { return same_signs(n, d, q) ? make_floormod(n, d, q) : Expr(); }
Expr mod_mixed_signs(Expr n, Expr d, const Query& q) {
  return mixed_signs(n, d, q) ? -make_floormod(-n, d, q) : Expr();
}
Expr mod_exact(Expr n, Expr d, const Query& q) {
  if (auto c = d.constant(); c && q.multiple(n) % *c == 0) return zero(n);
  return divide_polynomials(n, d).remainder.is_constant(0) && q.nonzero(d) ? zero(n) : Expr();
}
Expr mod_small(Expr n, Expr d, const Query& q) { return q.positive(d) && q.less(n, d) && q.less(-n, d) ? n : Expr(); }
Expr mod_pull(Expr n, Expr d, const Query& q) {
  auto c = common_factor(n, d, q);
  return c ? times(c->k, make_truncmod(c->a, c->b, q), q) : Expr();
}

constexpr Rule kDivRules[] = {
    {"truncdiv(n, -d)", "-truncdiv(n, d)", "d != 0", div_negate_divisor},
    {"truncdiv(-n, d)", "-truncdiv(n, d)", "d != 0", div_negate_dividend},
    {"truncdiv(n, d)", "floordiv(n, d)", "n >= 0 && d > 0 || n <= 0 && d < 0", div_same_signs},
    {"truncdiv(n, d)", "ceildiv(n, d)", "n <= 0 && d > 0 || n >= 0 && d < 0", div_mixed_signs},
    {"truncdiv(d*a, d)", "a", "d != 0", div_exact},
    {"truncdiv(n, d)", "0", "-d < n && n < d", div_small},
    {"truncdiv(k*a, k*b)", "truncdiv(a, b)", "k != 0 && b != 0", div_cancel},
    {"truncdiv(truncdiv(a, b), c)", "truncdiv(a, b*c)", "b != 0 && c != 0", div_nested},
};

constexpr Rule kModRules[] = {
    {"truncmod(n, -d)", "truncmod(n, d)", "d != 0", mod_negate_divisor},
    {"truncmod(-n, d)", "-truncmod(n, d)", "d != 0", mod_negate_dividend},
    {"truncmod(n, d)", "floormod(n, d)", "n >= 0 && d > 0 || n <= 0 && d < 0", mod_same_signs},
    {"truncmod(n, d)", "-floormod(-n, d)", "n <= 0 && d > 0 || n >= 0 && d < 0", mod_mixed_signs},
    {"truncmod(d*a, d)", "0", "d != 0", mod_exact},
    {"truncmod(n, d)", "n", "-d < n && n < d", mod_small},
    {"truncmod(k*a, k*b)", "k*truncmod(a, b)", "k != 0 && b != 0", mod_pull},
};
}  // namespace

std::span<const Rule> truncdiv_rules() { return kDivRules; }
std::span<const Rule> truncmod_rules() { return kModRules; }

Expr make_truncdiv(Expr a, Expr b, const Query& q) {
  if (b.is_constant(0)) throw_division_by_zero(Op::truncdiv, a);
  if (b.is_constant(1)) return a;
  auto x = a.constant(), c = b.constant();
  if (x && c) {
    Int128 r = Int128{*x} / *c;
    if (r > INT64_MAX) throw_overflow("truncdiv", *x, *c);
    return a.context().constant(static_cast<std::int64_t>(r));
  }
  return apply_rules(kDivRules, Op::truncdiv, a, b, q);
}

Expr make_truncmod(Expr a, Expr b, const Query& q) {
  if (b.is_constant(0)) throw_division_by_zero(Op::truncmod, a);
  auto x = a.constant(), c = b.constant();
  if (c && (*c == 1 || *c == -1)) return a.context().constant(0);
  if (x && c) return a.context().constant(static_cast<std::int64_t>(Int128{*x} % *c));
  return apply_rules(kModRules, Op::truncmod, a, b, q);
}

}  // namespace stax::symbolic
