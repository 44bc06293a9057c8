#include "symbolic/polynomial.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <algorithm>

#include "symbolic/order.h"

namespace stax::symbolic {

void throw_overflow(const char* operation, std::int64_t a, std::int64_t b) {
  throw UserError(fmt::format("integer overflow: {} {} {} leaves 64 bits", a, operation, b), {},
                  "Use smaller sizes or constants");
}

namespace {
using Factors = SmallVector<const Node*, 16>;

struct Term {
  const Node* monomial;
  std::int64_t coefficient;
  const Node* node;  // the finished term; null when it must be built
};
using TermList = SmallVector<Term, 16>;

const Node* build_term(Context::Impl& impl, const Node* monomial, std::int64_t coefficient) {
  if (coefficient == 1) return monomial;
  Factors operands;
  operands.push_back(impl.constant(coefficient));
  operands.append(monomial->factors());
  return impl.intern(Op::mul, operands, coefficient);
}

Expr build_sum(Context::Impl& impl, TermList& terms, std::int64_t constant) {
  Factors operands;
  for (Term& t : terms) {
    if (t.coefficient != 0) operands.push_back(t.node ? t.node : build_term(impl, t.monomial, t.coefficient));
  }
  if (operands.empty()) return Expr(impl.constant(constant));
  if (constant != 0) operands.push_back(impl.constant(constant));
  if (operands.size() == 1) return Expr(operands[0]);
  return Expr(impl.intern(Op::add, operands));
}

Term as_term(const Node* n) { return {n->monomial, n->value, n}; }

const Node* multiply_monomials(Context::Impl& impl, const Node* a, const Node* b) {
  Factors merged;
  auto x = a->factors(), y = b->factors();
  std::size_t i = 0, j = 0;
  while (i < x.size() && j < y.size()) merged.push_back(compare_nodes(x[i], y[j]) <= 0 ? x[i++] : y[j++]);
  merged.append(x.subspan(i));
  merged.append(y.subspan(j));
  return impl.intern(Op::mul, merged);
}
}  // namespace

std::int64_t constant_part(Expr e) {
  const Node* last = e.node()->terms().back();
  return last->is_constant() ? last->value : 0;
}

std::span<const Node* const> varying_terms(Expr e) {
  auto terms = e.node()->terms();
  return terms.back()->is_constant() ? terms.first(terms.size() - 1) : terms;
}

const Node* find_term(Expr e, const Node* monomial) {
  for (const Node* t : varying_terms(e)) {
    if (t->monomial == monomial) return t;
  }
  return nullptr;
}

Expr add_polynomials(Expr a, Expr b) {
  if (a.is_constant(0)) return b;
  if (b.is_constant(0)) return a;
  auto& impl = impl_of(a.node());
  auto x = varying_terms(a), y = varying_terms(b);
  TermList terms;
  std::size_t i = 0, j = 0;
  while (i < x.size() && j < y.size()) {
    int c = compare_monomials(x[i]->monomial, y[j]->monomial);
    if (c == 0) {
      terms.push_back({x[i]->monomial, checked_add(x[i]->value, y[j]->value), nullptr});
      ++i, ++j;
    } else {
      terms.push_back(as_term(c < 0 ? x[i++] : y[j++]));
    }
  }
  for (; i < x.size(); ++i) terms.push_back(as_term(x[i]));
  for (; j < y.size(); ++j) terms.push_back(as_term(y[j]));
  return build_sum(impl, terms, checked_add(constant_part(a), constant_part(b)));
}

namespace {
Expr scale(Expr e, std::int64_t factor) {
  if (factor == 0) return e.context().constant(0);
  if (factor == 1) return e;
  TermList terms;
  for (const Node* t : varying_terms(e)) terms.push_back({t->monomial, checked_mul(t->value, factor), nullptr});
  return build_sum(impl_of(e.node()), terms, checked_mul(constant_part(e), factor));
}

void combine_sorted(TermList& terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compare_monomials(a.monomial, b.monomial) < 0; });
  std::size_t out = 0;
  for (std::size_t i = 0; i < terms.size();) {
    Term t = terms[i];
    for (++i; i < terms.size() && terms[i].monomial == t.monomial; ++i) {
      t.coefficient = checked_add(t.coefficient, terms[i].coefficient);
    }
    terms[out++] = t;
  }
  terms.resize_down(out);
}
}  // namespace

Expr multiply_polynomials(Expr a, Expr b) {
  if (auto c = a.constant()) return scale(b, *c);
  if (auto c = b.constant()) return scale(a, *c);
  auto& impl = impl_of(a.node());
  TermList terms;
  std::int64_t ca = constant_part(a), cb = constant_part(b);
  for (const Node* x : varying_terms(a)) {
    for (const Node* y : varying_terms(b)) {
      terms.push_back({multiply_monomials(impl, x->monomial, y->monomial), checked_mul(x->value, y->value), nullptr});
    }
    if (cb != 0) terms.push_back({x->monomial, checked_mul(x->value, cb), nullptr});
  }
  if (ca != 0) {
    for (const Node* y : varying_terms(b)) terms.push_back({y->monomial, checked_mul(y->value, ca), nullptr});
  }
  if (terms.size() > 1) combine_sorted(terms);
  return build_sum(impl, terms, checked_mul(ca, cb));
}

std::int64_t content(Expr e) {
  std::int64_t g = 0;
  for (const Node* t : varying_terms(e)) g = gcd_of(g, t->value);
  return g;
}

Expr divide_coefficients(Expr e, std::int64_t g) {
  if (g == 1) return e;
  TermList terms;
  for (const Node* t : varying_terms(e)) terms.push_back({t->monomial, t->value / g, nullptr});
  return build_sum(impl_of(e.node()), terms, constant_part(e) / g);
}

namespace {
// Factors of a without those of b; false when b has one that a lacks.
bool remove_factors(std::span<const Node* const> a, std::span<const Node* const> b, Factors& rest) {
  std::size_t j = 0;
  for (const Node* f : a) {
    if (j < b.size() && b[j] == f) {
      ++j;
    } else {
      rest.push_back(f);
    }
  }
  return j == b.size();
}

Expr from_factors(Context::Impl& impl, const Factors& factors, std::int64_t coefficient) {
  if (factors.empty() || coefficient == 0) return Expr(impl.constant(coefficient));
  const Node* monomial = factors.size() == 1 ? factors[0] : impl.intern(Op::mul, factors);
  return Expr(build_term(impl, monomial, coefficient));
}
}  // namespace

Expr divide_term(const Node* term, const Node* divisor) {
  if (divisor->value == 0 || term->value % divisor->value != 0 || (divisor->value == -1 && term->value == INT64_MIN))
    return {};
  Factors rest;
  if (!remove_factors(term->factors(), divisor->factors(), rest)) return {};
  return from_factors(impl_of(term), rest, term->value / divisor->value);
}

Expr gcd_term(const Node* a, const Node* b) {
  Factors common;
  auto y = b->factors();
  std::size_t j = 0;
  for (const Node* f : a->factors()) {
    while (j < y.size() && y[j] != f && compare_nodes(y[j], f) < 0) ++j;
    if (j < y.size() && y[j] == f) {
      common.push_back(f);
      ++j;
    }
  }
  return from_factors(impl_of(a), common, gcd_of(a->value, b->value));
}

namespace {
Division divide_by_constant(Expr n, std::int64_t d) {
  auto& impl = impl_of(n.node());
  TermList quotient, remainder;
  for (const Node* t : varying_terms(n)) {
    if (t->value % d == 0 && !(d == -1 && t->value == INT64_MIN)) {
      quotient.push_back({t->monomial, t->value / d, nullptr});
    } else {
      remainder.push_back(as_term(t));
    }
  }
  Int128 c = constant_part(n);
  Int128 q = floordiv_of<Int128>(c, d);
  if (q > INT64_MAX) q = 0;
  return {build_sum(impl, quotient, static_cast<std::int64_t>(q)),
          build_sum(impl, remainder, static_cast<std::int64_t>(c - q * d))};
}
}  // namespace

Division divide_polynomials(Expr n, Expr d) {
  if (auto c = d.constant()) return divide_by_constant(n, *c);
  const Node* lead = d.node()->terms()[0];
  auto& impl = impl_of(n.node());
  Division r{Expr(impl.constant(0)), n};
  // Each step removes the first divisible term and adds only smaller ones (graded order).
  for (bool found = true; found;) {
    found = false;
    for (const Node* t : varying_terms(r.remainder)) {
      Expr q = divide_term(t, lead);
      if (!q) continue;
      r.quotient = add_polynomials(r.quotient, q);
      r.remainder = add_polynomials(r.remainder, scale(multiply_polynomials(q, d), -1));
      found = true;
      break;
    }
  }
  return r;
}

Expr sum_of_terms(Context& context, std::span<const Node* const> terms, std::int64_t constant) {
  TermList list;
  for (const Node* t : terms) list.push_back(as_term(t));
  return build_sum(context.impl(), list, constant);
}

}  // namespace stax::symbolic
