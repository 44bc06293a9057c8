// Sums that hold divisions. A rule fires only on terms that are present with the exact coefficient (the constant is
// free), so every part of a sum on which none fires is itself final, in whatever order the sum is put together.
#include "symbolic/rules_div.h"

namespace stax::symbolic {

namespace {
// Every varying term of `part` is a term of e.
bool contains(Expr e, Expr part) {
  for (const Node* t : varying_terms(part)) {
    if (find_term(e, t->monomial) != t) return false;
  }
  return !varying_terms(part).empty();
}

Expr minus(Expr a, Expr b) { return add_polynomials(a, multiply_polynomials(b, b.context().constant(-1))); }

// k·c·floordiv(x, c) → k·x when c divides x.
Expr exact_product(Expr e, const Node* term, const Node* f, const Query& q) {
  if (f->op != Op::floordiv || !f->operand[1]->is_constant()) return {};
  std::int64_t c = f->operand[1]->value;
  if (term->value % c != 0 || q.multiple(Expr(f->operand[0])) % c != 0) return {};
  Expr cofactor = divide_coefficients(divide_term(term, f), c);
  return add_polynomials(minus(e, Expr(term)), multiply_polynomials(cofactor, Expr(f->operand[0])));
}

// k·d·floordiv(x, d) + k·floormod(x, d) → k·x.
Expr rejoin(Expr e, const Node* term, const Node* f, const Query& q) {
  if (f->op != Op::floormod || !e.node()->has_division) return {};
  Expr cofactor = divide_term(term, f), x(f->operand[0]), d(f->operand[1]);
  if (!q.nonzero(d)) return {};
  Expr product = multiply_polynomials(multiply_polynomials(cofactor, d), make_floordiv(x, d, q));
  if (!contains(e, product)) return {};
  return add_polynomials(minus(minus(e, product), Expr(term)), multiply_polynomials(cofactor, x));
}

// k·x - k·d·floordiv(x, d) → k·floormod(x, d), for a single-term d.
Expr remainder(Expr e, const Node* term, const Node* f, const Query& q) {
  if (f->op != Op::floordiv && f->op != Op::ceildiv) return {};
  auto quotient = as_floordiv(Expr(f), q);
  if (!quotient || quotient->divisor.op() == Op::add || !q.nonzero(quotient->divisor)) return {};
  auto [x, d] = *quotient;
  Expr cofactor = divide_term(divide_term(term, f).node(), d.node());
  if (!cofactor) return {};
  cofactor = multiply_polynomials(cofactor, e.context().constant(-1));
  Expr dividend = multiply_polynomials(cofactor, x);
  if (!contains(e, dividend)) return {};
  return add_polynomials(minus(minus(e, Expr(term)), dividend), multiply_polynomials(cofactor, make_floormod(x, d, q)));
}

Expr step(Expr e, const Query& q) {
  for (const Node* term : varying_terms(e)) {
    if (!term->has_division && !term->has_modulo) continue;
    for (const Node* f : term->factors()) {
      if (Expr r = attempt([&] { return exact_product(e, term, f, q); })) return r;
      if (Expr r = attempt([&] { return rejoin(e, term, f, q); })) return r;
      if (Expr r = attempt([&] { return remainder(e, term, f, q); })) return r;
    }
  }
  return {};
}
}  // namespace

Expr simplify_sum(Expr e, const Query& q) {
  while (e.node()->has_division) {
    Expr next = step(e, q);
    if (!next || next == e) break;
    e = next;
  }
  return e;
}

}  // namespace stax::symbolic
