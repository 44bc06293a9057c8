#include "symbolic/rules_div.h"

namespace stax::symbolic {

namespace {
Expr negate_divisor(Expr n, Expr d, const Query& q) { return is_negative_form(d) ? -make_floormod(-n, -d, q) : Expr(); }

Expr drop_multiples(Expr n, Expr d, const Query& q) {
  auto split = split_multiples(n, d, q);
  return split ? make_floormod(split->remainder, d, q) : Expr();
}

Expr constant_quotient(Expr n, Expr d, const Query& q) {
  auto k = constant_floor_quotient(n, d, q);
  return k ? difference(n, times(d, n.context().constant(*k), q), q) : Expr();
}

Expr drop_known_multiples(Expr n, Expr d, const Query& q) {
  if (auto c = d.constant(); c && q.multiple(n) % *c == 0) return n.context().constant(0);
  auto s = split_known_multiples(n, d, q);
  return s ? make_floormod(s->remainder, d, q) : Expr();
}

Expr reduce_coefficients(Expr n, Expr d, const Query& q) {
  auto c = d.constant();
  if (!c || *c <= 0) return {};
  Expr dropped = n.context().constant(0);
  for (const Node* t : varying_terms(n)) {
    std::int64_t multiple = t->value / *c * *c;  // truncated: the sign stays
    if (multiple != 0)
      dropped = add_polynomials(dropped, multiply_polynomials(Expr(t->monomial), n.context().constant(multiple)));
  }
  return dropped.is_constant(0) ? Expr() : make_floormod(difference(n, dropped, q), d, q);
}

// Replaces k·floormod(a, m) by k·a where d divides k·m.
Expr open_nested(Expr n, Expr d, const Query& q) {
  if (!n.node()->has_modulo || d.op() == Op::add || !q.nonzero(d)) return {};
  for (const Node* t : varying_terms(n)) {
    for (const Node* f : t->factors()) {
      if (f->op != Op::floormod) continue;
      Expr k = divide_term(t, f), a(f->operand[0]), m(f->operand[1]);
      Expr period = multiply_polynomials(k, m);
      if (period.op() == Op::add || !divide_term(period.node(), d.node())) continue;
      return make_floormod(sum(difference(n, Expr(t), q), times(k, a, q), q), d, q);
    }
  }
  return {};
}

Expr pull_factor(Expr n, Expr d, const Query& q) {
  auto c = common_factor(n, d, q);
  return c ? times(c->k, make_floormod(c->a, c->b, q), q) : Expr();
}

Expr keep_small_remainder(Expr n, Expr d, const Query& q) {
  auto s = split_small_remainder(n, d, q);
  return s ? sum(times(s->g, make_floormod(s->a, s->c, q), q), s->r, q) : Expr();
}

constexpr Rule kRules[] = {
    {"floormod(n, -d)", "-floormod(-n, d)", "d != 0", negate_divisor},
    {"floormod(d*a + r, d)", "floormod(r, d)", "d != 0", drop_multiples},
    {"floormod(n, d)", "n - k*d", "d > 0 && k*d <= n && n < k*d + d", constant_quotient},
    {"floormod(d*x + r, d)", "floormod(r, d)", "d > 0", drop_known_multiples},
    {"floormod((c*k + e)*x + r, c)", "floormod(e*x + r, c)", "c > 0", reduce_coefficients},
    {"floormod(k*floormod(a, d*m) + r, d)", "floormod(k*a + r, d)", "d != 0 && m != 0", open_nested},
    {"floormod(k*floormod(a, m) + r, k*m)", "floormod(k*a + r, k*m)", "k != 0 && m != 0", open_nested},
    {"floormod(k*a, k*b)", "k*floormod(a, b)", "k != 0 && b != 0", pull_factor},
    {"floormod(g*a + r, g*c)", "g*floormod(a, c) + r", "0 <= r && r < g && c > 0", keep_small_remainder},
};
}  // namespace

std::span<const Rule> floormod_rules() { return kRules; }

Expr make_floormod(Expr a, Expr b, const Query& q) {
  if (b.is_constant(0)) throw_division_by_zero(Op::floormod, a);
  auto x = a.constant(), c = b.constant();
  if (c && (*c == 1 || *c == -1)) return a.context().constant(0);
  if (x && c) return a.context().constant(static_cast<std::int64_t>(floormod_of<Int128>(*x, *c)));
  return apply_rules(kRules, Op::floormod, a, b, q);
}

}  // namespace stax::symbolic
