#include "symbolic/rules_div.h"

namespace stax::symbolic {

namespace {
Expr negate_divisor(Expr n, Expr d, const Query& q) { return is_negative_form(d) ? make_ceildiv(-n, -d, q) : Expr(); }

Expr by_constant(Expr n, Expr d, const Query& q) {
  auto c = d.constant();
  return c ? make_floordiv(n + (*c - 1), d, q) : Expr();
}

Expr by_positive(Expr n, Expr d, const Query& q) {
  return q.positive(d) ? sum(make_floordiv(n - 1, d, q), n.context().constant(1), q) : Expr();
}

// Only where a rule of floordiv applies; else the node stays.
Expr as_negated(Expr n, Expr d, const Query& q) {
  Expr m = -n;
  Expr r = make_floordiv(m, d, q);
  return r == plain_node(Op::floordiv, m, d) ? Expr() : -r;
}

constexpr Rule kRules[] = {
    {"ceildiv(n, -d)", "ceildiv(-n, d)", "d != 0", negate_divisor},
    {"ceildiv(n, c)", "floordiv(n + c - 1, c)", "c > 0", by_constant},  // which turns back what is no simpler
    {"ceildiv(n, d)", "floordiv(n - 1, d) + 1", "d > 0", by_positive},
    {"ceildiv(n, d)", "-floordiv(-n, d)", "d != 0", as_negated},
};
}  // namespace

std::span<const Rule> ceildiv_rules() { return kRules; }

Expr make_ceildiv(Expr a, Expr b, const Query& q) {
  if (b.is_constant(0)) throw_division_by_zero(Op::ceildiv, a);
  auto x = a.constant(), c = b.constant();
  if (x && c) {
    Int128 r = ceildiv_of<Int128>(*x, *c);
    if (r > INT64_MAX) throw_overflow("ceildiv", *x, *c);
    return a.context().constant(static_cast<std::int64_t>(r));
  }
  return apply_rules(kRules, Op::ceildiv, a, b, q);
}

}  // namespace stax::symbolic
