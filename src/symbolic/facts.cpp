#include <algorithm>

#include "symbolic/interval.h"
#include "symbolic/order.h"
#include "symbolic/rules_div.h"

namespace stax::symbolic {

bool Facts::empty() const { return touched_ == 0 && !contradictory_; }

Range Facts::range(Expr symbol) const {
  const Node* n = symbol.node();
  auto [slot, fresh] =
      range_cache_.try_emplace(n, n->range);  // the declared range answers when a bound leads back here
  if (!fresh) return slot->second;
  Range r = n->range;
  if (auto found = ranges_.find(symbol); found != ranges_.end()) r = intersect(r, found->second);
  if (auto found = equalities_.find(symbol); found != equalities_.end())
    r = intersect(r, range_of(found->second, this));
  if (Expr below = n->symbol->info.below) {
    Range b = range_of(below, this);
    if (b.hi != kMaxInf) r.hi = std::min(r.hi, b.hi - 1);
  }
  r = tighten_to_multiples(r, multiple_of(symbol));
  range_cache_[n] = r;
  return r;
}

std::int64_t Facts::multiple_of(Expr symbol) const {
  auto found = multiples_.find(symbol);
  return found == multiples_.end() ? symbol.node()->multiple : found->second;
}

Expr Facts::value_of_atom(Expr atom) const {
  auto found = atom_values_.find(atom);
  return found == atom_values_.end() ? Expr() : found->second;
}

bool Facts::known_nonzero(Expr e) const {
  bool any = std::ranges::any_of(conditions_, [](Bool c) { return c.op() == Op::ne; });
  if (!any) return false;
  Bool wanted = ne(e, 0);
  return std::ranges::find(conditions_, wanted) != conditions_.end();
}

void Facts::touch(const Node* node) {
  touched_ |= node->symbols;
  range_cache_.clear();
}

void Facts::keep(Bool condition) {
  touch(condition.node());
  if (std::ranges::find(conditions_, condition) == conditions_.end()) conditions_.push_back(condition);
}

namespace {
bool true_at_hints(Bool condition) {
  auto truth = attempt([&] { return hint_of(condition); });
  return truth.value_or(false);
}
}  // namespace

void Facts::assume_range(Expr symbol, Range r) {
  auto hint = symbol.info().hint;
  hints_hold_ &= hint && r.contains(*hint);
  narrow(symbol, r);
}

void Facts::narrow(Expr symbol, Range r) {
  r = intersect(range(symbol), r);
  while (r.lo <= r.hi && r.lo != kMinInf && known_nonzero(symbol - r.lo)) ++r.lo;
  while (r.lo <= r.hi && r.hi != kMaxInf && known_nonzero(symbol - r.hi)) --r.hi;
  if (r.lo > r.hi) {
    contradictory_ = true;
    return;
  }
  ranges_[symbol] = r;
  touch(symbol.node());
  if (r.lo == r.hi && !equalities_.contains(symbol)) set_equal(symbol, symbol.context().constant(r.lo));
}

void Facts::assume(Bool condition) {
  hints_hold_ = hints_hold_ && true_at_hints(condition);
  Bool c = simplify(condition, *this);
  assume_simplified(c);
}

void Facts::assume_simplified(Bool c) {
  auto difference_of = [&](std::int64_t shift) {
    return attempt([&] { return Expr(c.node()->operand[1]) - Expr(c.node()->operand[0]) - shift; });
  };
  switch (c.op()) {
    case Op::boolean:
      contradictory_ |= c == c.context().boolean(false);
      return;
    case Op::logical_and:
      for (const Node* part : c.operands()) assume(Bool(part));
      return;
    case Op::le:
      return assume_nonneg(difference_of(0), c);
    case Op::lt:
      return assume_nonneg(difference_of(1), c);
    case Op::eq:
      return assume_equal(Expr(c.node()->operand[0]), Expr(c.node()->operand[1]), c);
    case Op::ne:
      return assume_different(difference_of(0), c);
    default:
      return keep(c);
  }
}

// d >= 0 narrows each symbol that stands alone in a term, by the range of the rest. True when d has no other term.
bool Facts::narrow_linear(Expr d) {
  bool alone = varying_terms(d).size() == 1;
  for (const Node* t : varying_terms(d)) {
    if (t->monomial->op != Op::symbol) {
      alone = false;
      continue;
    }
    std::int64_t most = range_of(d - Expr(t), this).hi;  // t >= -most
    if (most == kMaxInf) continue;
    Int128 bound = -Int128{most}, c = t->value;
    Range r;
    if (c > 0) {
      r.lo = clamp_range(ceildiv_of<Int128>(bound, c), 0).lo;
    } else {
      r.hi = clamp_range(0, floordiv_of<Int128>(bound, c)).hi;
    }
    Expr symbol(t->monomial);
    Range known = range(symbol);
    if (intersect(known, r) != known) narrow(symbol, r);
  }
  return alone;
}

void Facts::assume_nonneg(Expr d, Bool condition) {
  if (!d) return keep(condition);
  bool expressed = attempt([&] { return narrow_linear(d); });
  if (!expressed) {
    nonnegatives_.push_back(d);
    keep(condition);
  }
  auto known = nonnegatives_;
  for (Expr other : known) attempt([&] { return narrow_linear(other); });
}

bool Facts::assume_divisible(Expr dividend, std::int64_t divisor) {
  const Node* n = dividend.node();
  if (divisor <= 0 || !n->monomial || n->monomial->op != Op::symbol) return false;
  Expr symbol(n->monomial);
  std::int64_t m = multiple_of(symbol), step = divisor / gcd_of(divisor, n->value);
  Int128 lcm = Int128{m} / gcd_of(m, step) * step;
  if (lcm > INT64_MAX) return false;
  multiples_[symbol] = static_cast<std::int64_t>(lcm);
  touch(symbol.node());
  narrow(symbol, range(symbol));
  return true;
}

namespace {
bool is_symbol_term(const Node* t) { return t->monomial->op == Op::symbol && (t->value == 1 || t->value == -1); }

bool contains_node(const Node* n, const Node* wanted) {
  if (n == wanted) return true;
  if ((n->symbols & wanted->symbols) != wanted->symbols) return false;
  return std::ranges::any_of(n->operands(), [&](const Node* o) { return contains_node(o, wanted); });
}

// d == 0 solved for a term ±monomial.
Expr solve(Expr d, const Node* term) {
  Expr rest = d - Expr(term);
  return term->value == 1 ? -rest : rest;
}

// The latest symbol that d == 0 can be solved for; null when none.
const Node* solvable_symbol(Expr d) {
  const Node* best = nullptr;
  for (const Node* t : varying_terms(d)) {
    if (!is_symbol_term(t) || contains_node((d - Expr(t)).node(), t->monomial)) continue;
    if (!best || compare_nodes(t->monomial, best->monomial) > 0) best = t;
  }
  return best;
}

const Node* solvable_atom(Expr d) {
  for (const Node* t : varying_terms(d)) {
    bool atom = t->degree == 1 && t->monomial->op != Op::symbol && (t->value == 1 || t->value == -1);
    if (atom && !contains_node((d - Expr(t)).node(), t->monomial)) return t;
  }
  return nullptr;
}
}  // namespace

void Facts::assume_equal(Expr a, Expr b, Bool condition) {
  Expr d = attempt([&] { return a - b; });
  if (!d) return keep(condition);
  if (a.op() == Op::floormod && b.is_constant(0) && a.operand(1).constant()) {
    if (assume_divisible(a.operand(0), *a.operand(1).constant())) return;
  }
  if (const Node* t = solvable_symbol(d)) return set_equal(Expr(t->monomial), solve(d, t));
  keep(condition);
  if (const Node* t = solvable_atom(d)) {
    Expr atom(t->monomial), value = solve(d, t);
    atom_values_[atom] = value;
    restate(condition);
    auto quotient = as_floordiv(atom, Query(this));
    if (quotient && quotient->divisor.constant() && *quotient->divisor.constant() > 0) {
      auto [x, s] = *quotient;
      assume(le(value * s, x));
      assume(lt(x, value * s + s));
    }
  }
  for (const Node* t : varying_terms(d)) {  // c·x = -rest: what divides the rest divides c·x
    if (t->monomial->op != Op::symbol) continue;
    std::int64_t m = symbolic::multiple_of(d - Expr(t), this);
    if (m > 1) assume_divisible(Expr(t), m);
  }
  nonnegatives_.push_back(d);
  nonnegatives_.push_back(-d);
  narrow_linear(d);
  narrow_linear(-d);
}

// The stored conditions in the words that questions are put in since an atom has a value.
void Facts::restate(Bool reason) {
  touch(reason.node());
  const std::vector<Bool> known = conditions_;
  for (Bool c : known) {
    if (c == reason || !(c.node()->symbols & reason.node()->symbols)) continue;
    const Bool now = simplify(c, *this);
    if (!now.constant()) assume_simplified(now);  // a stored condition in the same words is simplified to true
  }
}

void Facts::assume_different(Expr d, Bool condition) {
  keep(condition);
  if (!d) return;
  auto terms = varying_terms(d);
  if (terms.size() != 1 || !is_symbol_term(terms[0])) return;
  Expr symbol(terms[0]->monomial);
  narrow(symbol, range(symbol));
}

void Facts::set_equal(Expr symbol, Expr value) {
  Range r = range(symbol);
  std::int64_t m = multiple_of(symbol);
  Expr below = symbol.info().below;
  SymbolMap step{{symbol, value}};
  for (auto& [key, known] : equalities_) known = substitute(known, step);
  equalities_[symbol] = value;
  touch(symbol.node());
  touch(value.node());

  std::vector<Bool> old;
  old.swap(conditions_);
  nonnegatives_.clear();
  atom_values_.clear();
  // What held of the symbol holds of its value.
  if (r.lo != kMinInf) assume(ge(value, r.lo));
  if (r.hi != kMaxInf) assume(le(value, r.hi));
  if (m > 1) assume(eq(floormod(value, m), 0));
  if (below) assume(lt(value, below));
  for (Bool c : old) assume(c);
}

}  // namespace stax::symbolic
