// Proof of e >= 0 by elimination: a variable in which e is monotone is replaced by the bound at which e is smallest,
// until the interval of the rest decides. A variable is a symbol or an atom; atoms count as independent, which only
// widens the domain.
#include "symbolic/prover.h"

#include <algorithm>

#include "symbolic/interval.h"
#include "symbolic/polynomial.h"

namespace stax::symbolic {

namespace {
constexpr int kSteps = 48;      // eliminations in one proof
constexpr int kSignSteps = 6;   // … spent on the sign of one derivative
constexpr int kFactSteps = 12;  // … after a stored condition is subtracted

Expr scaled(Expr e, std::int64_t factor) { return multiply_polynomials(e, e.context().constant(factor)); }
Expr plus(Expr a, Expr b) { return add_polynomials(a, b); }
Expr minus(Expr a, Expr b) { return add_polynomials(a, scaled(b, -1)); }
Expr plus(Expr a, std::int64_t c) { return add_polynomials(a, a.context().constant(c)); }
Expr times(Expr a, Expr b) { return multiply_polynomials(a, b); }

// e as a polynomial in one variable v: coefficients of v^0, v^1, ….
std::vector<Expr> powers_of(Expr e, const Node* v) {
  std::vector<Expr> coefficients(2, e.context().constant(0));
  for (const Node* term : e.node()->terms()) {
    Expr rest(term);
    std::size_t power = 0;
    for (Expr next; rest.node()->monomial && (next = divide_term(rest.node(), v)); ++power) rest = next;
    if (power >= coefficients.size()) coefficients.resize(power + 1, e.context().constant(0));
    coefficients[power] = plus(coefficients[power], rest);
  }
  return coefficients;
}

class Elimination {
 public:
  Elimination(const Query& query, int steps) : query_(query), steps_(steps) {}
  bool nonneg(Expr e);

 private:
  enum class Sign { negative, positive, unknown };
  struct Choice {
    const Node* variable = nullptr;
    Sign slope = Sign::unknown;
    std::vector<Expr> powers;
  };
  Sign slope_of(Expr e, const Node* v) const;
  Choice choose(Expr e) const;
  bool try_bounds(const Choice& c);
  bool try_value(const Choice& c, Expr value) { return nonneg(evaluate(c, value)); }
  static Expr evaluate(const Choice& c, Expr value);
  bool try_quotient(const Choice& c, Expr numerator, Expr divisor);
  bool positive(Expr divisor) const;
  bool try_atom(const Choice& c);
  bool has_bound(const Node* v, Sign slope) const;

  const Query& query_;
  int steps_;
};

// Interval of the derivative of e in v, term by term.
Range slope_range(Expr e, const Node* v, const Query& query) {
  Range total{0, 0};
  for (const Node* term : varying_terms(e)) {
    Range r{term->value, term->value};
    std::int64_t power = 0;
    for (const Node* f : term->factors()) {
      if (f != v || ++power > 1) r = mul_ranges(r, query.range(Expr(f)));
    }
    if (power > 0) total = add_ranges(total, mul_ranges(r, {power, power}));
  }
  return total;
}

Elimination::Sign Elimination::slope_of(Expr e, const Node* v) const {
  Range r = slope_range(e, v, query_);
  if (r.lo >= 0) return Sign::positive;
  if (r.hi <= 0) return Sign::negative;
  if (steps_ <= kSignSteps || !has_bound(v, Sign::unknown)) return Sign::unknown;
  std::vector<Expr> powers = powers_of(e, v);
  Expr slope = powers[1], variable(v), power(v);
  for (std::size_t k = 2; k < powers.size(); ++k, power = times(power, variable)) {
    slope = plus(slope, scaled(times(powers[k], power), static_cast<std::int64_t>(k)));
  }
  if (Elimination(query_, kSignSteps).nonneg(slope)) return Sign::positive;
  if (Elimination(query_, kSignSteps).nonneg(scaled(slope, -1))) return Sign::negative;
  return Sign::unknown;
}

// Whether v has a bound at the end where e is smallest; for an unknown slope, any bound.
bool Elimination::has_bound(const Node* v, Sign slope) const {
  if (v->op != Op::symbol) return true;
  Range r = query_.range(Expr(v));
  if (slope != Sign::negative && r.lo != kMinInf) return true;
  return slope != Sign::positive && (r.hi != kMaxInf || v->symbol->info.below);
}

// The highest variable first: what bounds it, or what it is made of, stays for later.
Elimination::Choice Elimination::choose(Expr e) const {
  SmallVector<const Node*, 16> variables;
  for (const Node* term : varying_terms(e)) {
    for (const Node* v : term->factors()) {
      if (std::find(variables.begin(), variables.end(), v) == variables.end()) variables.push_back(v);
    }
  }
  std::stable_sort(variables.begin(), variables.end(),
                   [](const Node* a, const Node* b) { return a->height > b->height; });
  for (const Node* v : variables) {
    Sign slope = slope_of(e, v);
    if (slope != Sign::unknown && has_bound(v, slope)) return {v, slope, powers_of(e, v)};
  }
  return {};
}

Expr Elimination::evaluate(const Choice& c, Expr value) {
  Expr r = c.powers.back();
  for (std::size_t k = c.powers.size() - 1; k-- > 0;) r = plus(times(r, value), c.powers[k]);
  return r;
}

// Without stored conditions and within a small budget, so that proofs do not nest.
bool Elimination::positive(Expr divisor) const {
  Range r = query_.range(divisor);
  if (r.lo >= 1) return true;
  return r.hi >= 1 && steps_ > kSignSteps && Elimination(query_, kSignSteps).nonneg(plus(divisor, -1));
}

// For e linear in q = floordiv(n, s), s > 0:  e >= 0  ⟺  s·(e + 1) - 1 >= 0, in which s·q lies within [n - s + 1, n].
bool Elimination::try_quotient(const Choice& c, Expr numerator, Expr divisor) {
  if (c.powers.size() != 2 || !positive(divisor)) return false;
  Expr bound = c.slope == Sign::negative ? numerator : plus(minus(numerator, divisor), 1);
  Expr rest = plus(times(divisor, plus(c.powers[0], 1)), -1);
  return nonneg(plus(rest, times(c.powers[1], bound)));
}

bool Elimination::try_atom(const Choice& c) {
  const Node* v = c.variable;
  Expr a(v->operand[0]), b(v->operand[1]);
  bool upper = c.slope == Sign::negative;
  switch (v->op) {
    case Op::floormod:
      if (!positive(b)) return false;
      if (!upper) return try_value(c, b.context().constant(0));
      return try_value(c, plus(b, -1)) || (query_.range(a).lo >= 0 && try_value(c, a));
    case Op::min:
      return upper ? try_value(c, a) || try_value(c, b) : try_value(c, a) && try_value(c, b);
    case Op::max:
      return upper ? try_value(c, a) && try_value(c, b) : try_value(c, a) || try_value(c, b);
    case Op::floordiv:
      return try_quotient(c, a, b);
    case Op::ceildiv:
      return try_quotient(c, plus(plus(a, b), -1), b);
    default:
      return false;
  }
}

bool Elimination::try_bounds(const Choice& c) {
  const Node* v = c.variable;
  if (v->op != Op::symbol && try_atom(c)) return true;
  if (v->op == Op::symbol && c.slope == Sign::negative && v->symbol->info.below) {
    if (try_value(c, plus(v->symbol->info.below, -1))) return true;
  }
  Range r = query_.range(Expr(v));
  std::int64_t bound = c.slope == Sign::positive ? r.lo : r.hi;
  if (bound == kMinInf || bound == kMaxInf) return false;
  return try_value(c, v->context->constant(bound));
}

bool Elimination::nonneg(Expr e) {
  Range r = query_.range(e);
  if (r.lo >= 0) return true;
  if (r.hi < 0 || --steps_ < 0 || query_.sampled_signs(e).negative) return false;
  Choice c = choose(e);
  return c.variable && try_bounds(c);
}

// e >= 0 from a stored f >= 0: e = k·f + rest with rest >= 0.
bool follows_from_facts(Expr e, const Query& query) {
  for (Expr f : query.facts()->nonnegatives()) {
    if (!(f.node()->symbols & e.node()->symbols)) continue;
    Expr last;
    for (const Node* t : varying_terms(f)) {
      const Node* own = find_term(e, t->monomial);
      if (!own || (own->value < 0) != (t->value < 0) || own->value / t->value < 1) continue;
      Expr rest = minus(e, scaled(f, own->value / t->value));
      if (rest == last) continue;
      last = rest;
      if (Elimination(query, kFactSteps).nonneg(rest)) return true;
    }
  }
  return false;
}
}  // namespace

// Bits of the samples that are defined and known to be allowed; where facts bear on the nodes only the hints may be.
std::uint8_t Query::allowed_samples(const Node* a, const Node* b) const {
  auto both = static_cast<std::uint8_t>(a->sampled & b->sampled);
  if (!facts_ || !((a->symbols | b->symbols) & facts_->touched())) return both;
  return facts_->hints_hold() ? static_cast<std::uint8_t>(both & 1u << kHintSample) : std::uint8_t{0};
}

Query::Signs Query::sampled_signs(Expr e) const {
  const Node* n = e.node();
  Signs signs;
  for (std::uint8_t bits = allowed_samples(n, n), k = 0; bits; bits >>= 1, ++k) {
    if (!(bits & 1)) continue;
    signs.negative |= n->sample[k] < 0;
    signs.zero |= n->sample[k] == 0;
    signs.positive |= n->sample[k] > 0;
  }
  return signs;
}

bool Query::sampled_order(Expr a, Expr b, bool or_equal) const {
  const Node *x = a.node(), *y = b.node();
  for (std::uint8_t bits = allowed_samples(x, y), k = 0; bits; bits >>= 1, ++k) {
    if ((bits & 1) && (x->sample[k] < y->sample[k] || (or_equal && x->sample[k] == y->sample[k]))) return true;
  }
  return false;
}

bool Query::nonneg(Expr e) const {
  Range r = range(e);
  if (r.lo >= 0) return true;
  if (r.hi < 0 || e.constant() || sampled_signs(e).negative) return false;
  return attempt([&]() -> bool {
    if (Elimination(*this, kSteps).nonneg(e)) return true;
    return facts_ && follows_from_facts(e, *this);
  });
}

bool Query::positive(Expr e) const {
  Range r = range(e);
  if (r.lo >= 1) return true;
  if (r.hi < 1) return false;
  Signs signs = sampled_signs(e);
  if (signs.negative || signs.zero) return false;
  return attempt([&]() -> bool { return nonneg(plus(e, -1)); });
}

bool Query::nonzero(Expr e) const {
  Range r = range(e);
  if (r.lo > 0 || r.hi < 0) return true;
  if (e.constant()) return !e.is_constant(0);
  if (facts_ && facts_->known_nonzero(e)) return true;
  if (e.op() == Op::mul) {
    for (const Node* f : e.node()->factors()) {
      if (!nonzero(Expr(f))) return false;
    }
    return true;
  }
  Signs signs = sampled_signs(e);
  if (signs.zero) return false;
  return attempt([&]() -> bool {
    return (!signs.negative && nonneg(plus(e, -1))) || (!signs.positive && nonneg(plus(scaled(e, -1), -1)));
  });
}

bool Query::less(Expr a, Expr b) const {
  if (sampled_order(b, a, true)) return false;
  return attempt([&]() -> bool { return nonneg(plus(minus(b, a), -1)); });
}

bool Query::less_equal(Expr a, Expr b) const {
  if (sampled_order(b, a, false)) return false;
  return attempt([&]() -> bool { return nonneg(minus(b, a)); });
}

std::optional<Quotient> as_floordiv(Expr atom, const Query& q) {
  if (atom.op() == Op::floordiv) return Quotient{atom.operand(0), atom.operand(1)};
  if (atom.op() != Op::ceildiv || !q.positive(atom.operand(1))) return std::nullopt;
  Expr a = atom.operand(0), b = atom.operand(1);
  return Quotient{plus(plus(a, b), -1), b};
}

}  // namespace stax::symbolic
