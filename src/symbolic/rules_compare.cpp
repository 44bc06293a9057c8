// Comparisons. Every inequality is d >= 0 and every equality d == 0 for a polynomial d, reduced and then split so that
// both sides have positive coefficients.
#include "symbolic/order.h"
#include "symbolic/rules_div.h"

namespace stax::symbolic {

namespace {
Bool truth(Expr like, bool value) { return like.context().boolean(value); }

Bool plain_comparison(Op op, Expr a, Expr b) {
  const Node* operands[] = {a.node(), b.node()};
  return Bool(impl_of(a.node()).intern(op, operands));
}

struct Sides {
  Expr positive, negative;  // d = positive - negative + constant
};

Sides split_sides(Expr d) {
  SmallVector<const Node*, 16> positive;
  Expr negative = d.context().constant(0);
  for (const Node* t : varying_terms(d)) {
    if (t->value > 0) {
      positive.push_back(t);
    } else {
      negative = add_polynomials(negative, multiply_polynomials(Expr(t), d.context().constant(-1)));
    }
  }
  return {sum_of_terms(d.context(), positive, 0), negative};
}

Bool spell_nonneg(Expr d) {
  auto [p, n] = split_sides(d);
  std::int64_t c = constant_part(d);
  if (c == -1 && !n.is_constant(0) && !p.is_constant(0)) return plain_comparison(Op::lt, n, p);
  if (c < 0 || n.is_constant(0)) return plain_comparison(Op::le, n - c, p);
  return plain_comparison(Op::le, n, p + c);
}

Bool spell_zero(Expr d) {
  auto [p, n] = split_sides(d);
  std::int64_t c = constant_part(d);
  if (p.is_constant(0)) return plain_comparison(Op::eq, n, n.context().constant(c));
  return plain_comparison(Op::eq, p, n - c);
}

// Factors common to all terms that `keep` accepts are cancelled; d has no constant part.
template <class Keep>
Expr cancel_common(Expr d, Keep keep) {
  auto terms = d.node()->terms();
  Expr g(terms[0]);
  for (const Node* t : terms) g = gcd_term(g.node(), t);
  Expr divisor = d.context().constant(1);
  for (const Node* f : g.node()->factors()) {
    if (keep(Expr(f))) divisor = multiply_polynomials(divisor, Expr(f));
  }
  if (divisor.is_constant(1)) return d;
  Expr r = d.context().constant(0);
  for (const Node* t : terms) r = add_polynomials(r, divide_term(t, divisor.node()));
  return r;
}

// The division of d when it is its only one, in a term ±floordiv(x, s) or ±ceildiv(x, s), s a positive constant.
const Node* lone_division(Expr d) {
  const Node* found = nullptr;
  for (const Node* t : varying_terms(d)) {
    if (!t->has_division) continue;
    const Node* m = t->monomial;
    bool plain = (t->value == 1 || t->value == -1) && (m->op == Op::floordiv || m->op == Op::ceildiv);
    if (found || !plain || !m->operand[1]->is_constant()) return nullptr;
    found = t;
  }
  return found;
}

// rest - floordiv(x, s) >= 0  ⟺  s·rest + s - 1 - x >= 0;   rest + floordiv(x, s) >= 0  ⟺  x + s·rest >= 0.
Expr clear_division(Expr d, const Query& q) {
  const Node* term = lone_division(d);
  if (!term) return {};
  auto quotient = as_floordiv(Expr(term->monomial), q);
  if (!quotient || !q.positive(quotient->divisor)) return {};
  auto [x, s] = *quotient;
  Expr scaled = (d - Expr(term)) * s;
  return term->value > 0 ? scaled + x : scaled + s - 1 - x;
}

Expr reduce_nonneg(Expr d, const Query& q) {
  if (std::int64_t g = content(d); g > 1) {
    std::int64_t c = constant_part(d), floored = floordiv_of(c, g);
    d = divide_coefficients(d - c, g) + floored;
  }
  if (constant_part(d) == 0) d = cancel_common(d, [&](Expr f) { return q.positive(f); });
  return d;
}

// Sign-normalised and divided by the content; null when the content shows that d is never 0.
Expr reduce_zero(Expr d, const Query& q) {
  std::int64_t g = content(d), c = constant_part(d);
  if (g > 0 && c % g != 0) return {};
  d = divide_coefficients(d, g);
  if (constant_part(d) == 0) d = cancel_common(d, [&](Expr f) { return q.nonzero(f); });
  return is_negative_form(d) ? -d : d;
}

// The varying part is a multiple of m and the constant is not.
bool off_by_divisibility(Expr d, const Query& q) {
  std::int64_t c = constant_part(d);
  if (c == 0) return false;
  std::int64_t m = q.multiple(d - c);
  return m > 1 && c % m != 0;
}

Bool nonneg_condition(Expr d, const Query& q) {
  for (;;) {
    if (d.constant()) return truth(d, *d.constant() >= 0);
    Query::Signs signs = q.sampled_signs(d);
    if (!signs.negative && q.nonneg(d)) return truth(d, true);
    if (!signs.zero && !signs.positive && q.nonneg(-d - 1)) return truth(d, false);
    Expr next = reduce_nonneg(d, q);
    if (next == d) {
      next = clear_division(d, q);
      if (!next || next == d) return spell_nonneg(d);
    }
    d = next;
  }
}

Bool zero_condition(Expr d, const Query& q) {
  for (;;) {
    if (d.constant()) return truth(d, d.is_constant(0));
    Range r = q.range(d);
    if (r.lo > 0 || r.hi < 0 || off_by_divisibility(d, q)) return truth(d, false);
    if (r.lo == 0 && r.hi == 0) return truth(d, true);
    Query::Signs signs = q.sampled_signs(d);
    if (!signs.negative && !signs.positive && q.nonneg(d) && q.nonneg(-d)) return truth(d, true);
    if (!signs.negative && !signs.zero && q.nonneg(d - 1)) return truth(d, false);
    if (!signs.positive && !signs.zero && q.nonneg(-d - 1)) return truth(d, false);
    Expr next = reduce_zero(d, q);
    if (!next) return truth(d, false);
    if (next == d) return spell_zero(d);
    d = next;
  }
}

// A comparison whose difference leaves 64 bits stays as it is.
template <class Make>
Bool or_plain(Op op, Expr a, Expr b, Make make) {
  Bool r = attempt([&]() -> Bool { return make(); });
  return r.node() ? r : plain_comparison(op, a, b);
}
}  // namespace

Bool make_nonneg(Expr d, const Query& q) {
  return or_plain(Op::le, d.context().constant(0), d, [&] { return nonneg_condition(d, q); });
}

Bool make_le(Expr a, Expr b, const Query& q) {
  return or_plain(Op::le, a, b, [&] { return nonneg_condition(difference(b, a, q), q); });
}

Bool make_lt(Expr a, Expr b, const Query& q) {
  return or_plain(Op::lt, a, b, [&] { return nonneg_condition(difference(b, a, q) - 1, q); });
}

Bool make_eq(Expr a, Expr b, const Query& q) {
  if (compare_nodes(b.node(), a.node()) < 0) std::swap(a, b);
  return or_plain(Op::eq, a, b, [&] { return zero_condition(difference(a, b, q), q); });
}

}  // namespace stax::symbolic
