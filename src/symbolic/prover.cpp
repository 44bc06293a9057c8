// Proof of e >= 0 by elimination: a variable in which e is monotone is replaced by the bound at which e is smallest,
// until the interval of the rest decides. A variable is a symbol or an atom; atoms count as independent, which only
// widens the domain.
#include "symbolic/prover.h"

#include <algorithm>

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
  Sign slope_of(const std::vector<Expr>& powers, const Node* v) const;
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

Elimination::Sign Elimination::slope_of(const std::vector<Expr>& powers, const Node* v) const {
  Expr slope = powers[1];
  Expr variable(v), power(v);
  for (std::size_t k = 2; k < powers.size(); ++k, power = times(power, variable)) {
    slope = plus(slope, scaled(times(powers[k], power), static_cast<std::int64_t>(k)));
  }
  Range r = query_.range(slope);
  if (r.lo >= 0) return Sign::positive;
  if (r.hi <= 0) return Sign::negative;
  if (steps_ <= kSignSteps) return Sign::unknown;
  if (r.hi > 0 && Elimination(query_, kSignSteps).nonneg(slope)) return Sign::positive;
  if (r.lo < 0 && Elimination(query_, kSignSteps).nonneg(scaled(slope, -1))) return Sign::negative;
  return Sign::unknown;
}

bool Elimination::has_bound(const Node* v, Sign slope) const {
  Range r = query_.range(Expr(v));
  if (slope == Sign::positive ? r.lo != kMinInf : r.hi != kMaxInf) return true;
  if (v->op == Op::symbol) return slope == Sign::negative && v->symbol->info.below;
  return true;  // atoms have symbolic bounds
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
    Choice c{v, Sign::unknown, powers_of(e, v)};
    c.slope = slope_of(c.powers, v);
    if (c.slope != Sign::unknown && has_bound(v, c.slope)) return c;
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
  if (r.hi < 0 || --steps_ < 0) return false;
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

bool Query::nonneg(Expr e) const {
  Range r = range(e);
  if (r.lo >= 0) return true;
  if (r.hi < 0 || e.constant()) return false;
  return attempt([&]() -> bool {
    if (Elimination(*this, kSteps).nonneg(e)) return true;
    return facts_ && follows_from_facts(e, *this);
  });
}

bool Query::positive(Expr e) const {
  Range r = range(e);
  if (r.lo >= 1) return true;
  if (r.hi < 1) return false;
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
  return attempt([&]() -> bool { return nonneg(plus(e, -1)) || nonneg(plus(scaled(e, -1), -1)); });
}

bool Query::less(Expr a, Expr b) const {
  return attempt([&]() -> bool { return nonneg(plus(minus(b, a), -1)); });
}

bool Query::less_equal(Expr a, Expr b) const {
  return attempt([&]() -> bool { return nonneg(minus(b, a)); });
}

std::optional<Quotient> as_floordiv(Expr atom, const Query& q) {
  if (atom.op() == Op::floordiv) return Quotient{atom.operand(0), atom.operand(1)};
  if (atom.op() != Op::ceildiv || !q.positive(atom.operand(1))) return std::nullopt;
  Expr a = atom.operand(0), b = atom.operand(1);
  return Quotient{plus(plus(a, b), -1), b};
}

}  // namespace stax::symbolic
