#include "symbolic/rules_div.h"

namespace stax::symbolic {

namespace {
Expr fold(Expr n, Expr d, const Query&) {
  auto x = n.constant(), c = d.constant();
  if (!x || !c) return {};
  Int128 r = floordiv_of<Int128>(*x, *c);
  if (r > INT64_MAX) throw_overflow("floordiv", *x, *c);
  return n.context().constant(static_cast<std::int64_t>(r));
}

Expr negate_divisor(Expr n, Expr d, const Query& q) { return is_negative_form(d) ? make_floordiv(-n, -d, q) : Expr(); }

Expr pull_multiples(Expr n, Expr d, const Query& q) {
  auto split = split_multiples(n, d, q);
  return split ? sum(split->quotient, make_floordiv(split->remainder, d, q), q) : Expr();
}

Expr constant_quotient(Expr n, Expr d, const Query& q) {
  auto k = constant_floor_quotient(n, d, q);
  return k ? n.context().constant(*k) : Expr();
}

Expr cancel_factor(Expr n, Expr d, const Query& q) {
  auto c = common_factor(n, d, q);
  return c ? make_floordiv(c->a, c->b, q) : Expr();
}

Expr drop_small_remainder(Expr n, Expr d, const Query& q) {
  auto s = split_small_remainder(n, d, q);
  return s ? make_floordiv(s->a, s->c, q) : Expr();
}

Expr split_exact(Expr n, Expr d, const Query& q) {
  auto s = split_known_multiples(n, d, q);
  return s ? sum(make_floordiv(s->quotient, d, q), make_floordiv(s->remainder, d, q), q) : Expr();
}

Expr merge_nested(Expr n, Expr d, const Query& q) {
  auto terms = varying_terms(n);
  if (terms.size() != 1 || terms[0]->value != 1 || terms[0]->degree != 1) return {};
  auto inner = as_floordiv(Expr(terms[0]), q);
  if (!inner || !q.positive(d) || !q.nonzero(inner->divisor)) return {};
  Expr shifted = sum(inner->numerator, times(inner->divisor, n.context().constant(constant_part(n)), q), q);
  return make_floordiv(shifted, times(inner->divisor, d, q), q);
}

Expr divide_inside_modulo(Expr n, Expr d, const Query& q) {
  if (n.op() != Op::floormod || d.op() == Op::add || n.operand(1).op() == Op::add) return {};
  Expr b = divide_term(n.operand(1).node(), d.node());
  if (!b || !q.positive(d) || !q.positive(b)) return {};
  return make_floormod(make_floordiv(n.operand(0), d, q), b, q);
}

Expr as_ceildiv(Expr n, Expr d, const Query& q) {
  std::int64_t c = constant_part(n);
  if (auto k = d.constant()) {
    if (*k > 1 && c == *k - 1) return plain_node(Op::ceildiv, n - c, d);
  } else if (c == -1 && q.positive(d)) {
    return plain_node(Op::ceildiv, n + 1, d) - 1;
  }
  return {};
}

constexpr Rule kRules[] = {
    {"floordiv(n, -d)", "floordiv(-n, d)", "d != 0", negate_divisor},
    {"floordiv(d*a + r, d)", "a + floordiv(r, d)", "d != 0", pull_multiples},
    {"floordiv(n, d)", "k", "d > 0 && k*d <= n && n < k*d + d", constant_quotient},
    {"floordiv(k*a, k*b)", "floordiv(a, b)", "k != 0 && b != 0", cancel_factor},
    {"floordiv(g*a + r, g*c)", "floordiv(a, c)", "0 <= r && r < g && c > 0", drop_small_remainder},
    {"floordiv(d*x + r, d)", "floordiv(d*x, d) + floordiv(r, d)", "d > 0", split_exact},
    {"floordiv(floordiv(a, b) + k, c)", "floordiv(a + k*b, b*c)", "b != 0 && c > 0", merge_nested},
    {"floordiv(ceildiv(a, b) + k, c)", "floordiv(a + b - 1 + k*b, b*c)", "b > 0 && c > 0", merge_nested},
    {"floordiv(floormod(x, b*c), c)", "floormod(floordiv(x, c), b)", "b > 0 && c > 0", divide_inside_modulo},
    {"floordiv(n + c - 1, c)", "ceildiv(n, c)", "c > 0", as_ceildiv},
    {"floordiv(n - 1, d)", "ceildiv(n, d) - 1", "d > 0", as_ceildiv},
};
}  // namespace

std::span<const Rule> floordiv_rules() { return kRules; }

Expr make_floordiv(Expr a, Expr b, const Query& q) {
  if (b.is_constant(0)) throw_division_by_zero(Op::floordiv, a);
  if (b.is_constant(1)) return a;
  if (a.constant() && b.constant()) return fold(a, b, q);
  return apply_rules(kRules, Op::floordiv, a, b, q);
}

}  // namespace stax::symbolic
