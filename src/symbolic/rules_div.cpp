#include "symbolic/rules_div.h"

#include "symbolic/interval.h"
#include "symbolic/order.h"

namespace stax::symbolic {

std::optional<std::int64_t> constant_floor_quotient(Expr n, Expr d, const Query& q) {
  Range by_interval = floordiv_ranges(q.range(n), q.range(d));
  if (by_interval.lo == by_interval.hi && q.nonzero(d)) return by_interval.lo;
  if (d.constant()) {  // the interval of n may be too wide for a sum of dependent terms
    if (by_interval.contains(0) && q.in_divisor(n, d)) return 0;
    return std::nullopt;
  }
  if (!q.positive(d)) return std::nullopt;
  if (by_interval.contains(0) && q.in_divisor(n, d)) return 0;
  if (by_interval.contains(-1) && q.less(n, n.context().constant(0)) && q.nonneg(n + d)) return -1;
  return std::nullopt;
}

std::optional<Division> split_multiples(Expr n, Expr d, const Query& q) {
  Division r = divide_polynomials(n, d);
  if (r.quotient.is_constant(0)) return std::nullopt;
  if (d.op() == Op::add && !r.remainder.is_constant(0) && !q.in_divisor(r.remainder, d)) return std::nullopt;
  if (!q.nonzero(d)) return std::nullopt;
  return r;
}

namespace {
bool is_one(Expr g) { return g.is_constant(1); }

// Splits n by the terms that g divides; the constant by floor when g is constant.
Division split_by(Expr n, Expr g) {
  SmallVector<const Node*, 16> rest;
  Expr a = n.context().constant(0);
  for (const Node* t : varying_terms(n)) {
    if (Expr part = divide_term(t, g.node())) {
      a = add_polynomials(a, part);
    } else {
      rest.push_back(t);
    }
  }
  std::int64_t c = constant_part(n);
  if (auto k = g.constant()) {
    std::int64_t quotient = floordiv_of(c, *k);
    a = add_polynomials(a, n.context().constant(quotient));
    c -= quotient * *k;
  }
  return {a, sum_of_terms(n.context(), rest, c)};
}
}  // namespace

std::optional<SmallRemainder> split_small_remainder(Expr n, Expr d, const Query& q) {
  if (d.op() == Op::add) return std::nullopt;
  SmallVector<const Node*, 8> tried;
  for (const Node* t : varying_terms(n)) {
    Expr g = gcd_term(d.node(), t);
    if (is_one(g) || g == d) continue;
    bool known = false;
    for (const Node* o : tried) known |= o == g.node();
    if (known) continue;
    tried.push_back(g.node());
    Expr c = divide_term(d.node(), g.node());
    Division parts = split_by(n, g);
    if (!c || (!g.constant() && !q.positive(g)) || !q.positive(c) || !q.in_divisor(parts.remainder, g)) continue;
    return SmallRemainder{g, parts.quotient, c, parts.remainder};
  }
  return std::nullopt;
}

namespace {
// Greatest term that divides all terms of e, the constant included.
Expr common_term(Expr e) {
  auto terms = e.node()->terms();
  Expr g(terms[0]);
  for (const Node* t : terms) g = gcd_term(g.node(), t);
  return g;
}

Expr divide_all(Expr e, Expr g) {
  Expr r = e.context().constant(0);
  for (const Node* t : e.node()->terms()) {
    Expr part = divide_term(t, g.node());
    if (!part) return {};
    r = add_polynomials(r, part);
  }
  return r;
}
}  // namespace

std::optional<CommonFactor> common_factor(Expr n, Expr d, const Query& q) {
  if (n.is_constant(0)) return std::nullopt;
  Expr k = gcd_term(common_term(n).node(), common_term(d).node());
  if (is_one(k)) return std::nullopt;
  // Keep the factors that are known to be nonzero.
  Expr proven = n.context().constant(coefficient_of(k.node()));
  for (const Node* f : k.node()->factors()) {
    if (q.nonzero(Expr(f))) proven = multiply_polynomials(proven, Expr(f));
  }
  if (is_one(proven)) return std::nullopt;
  Expr a = divide_all(n, proven), b = divide_all(d, proven);
  if (!a || !b) return std::nullopt;
  return CommonFactor{proven, a, b};
}

std::optional<Division> split_known_multiples(Expr n, Expr d, const Query& q) {
  auto c = d.constant();
  if (!c || *c <= 1 || n.op() != Op::add) return std::nullopt;
  SmallVector<const Node*, 16> exact, rest;
  for (const Node* t : varying_terms(n)) {
    if (q.multiple(Expr(t)) % *c == 0) {
      exact.push_back(t);
    } else {
      rest.push_back(t);
    }
  }
  if (exact.empty() || (rest.empty() && constant_part(n) == 0)) return std::nullopt;
  return Division{sum_of_terms(n.context(), exact, 0), sum_of_terms(n.context(), rest, constant_part(n))};
}

bool is_negative_form(Expr d) {
  const Node* lead = d.node()->terms()[0];
  return lead->value < 0;
}

}  // namespace stax::symbolic
