// Questions about the structure of expressions.
#include <algorithm>
#include <unordered_set>

#include "symbolic/analysis.h"
#include "symbolic/polynomial.h"

namespace stax::symbolic {

namespace {
void collect(const Node* n, std::unordered_set<const Node*>& seen, std::vector<Expr>& out) {
  if (n->is_constant() || !seen.insert(n).second) return;
  if (n->op == Op::symbol) out.push_back(Expr(n));
  for (const Node* o : n->operands()) collect(o, seen, out);
}

std::vector<Expr> symbols_in(const Node* n) {
  std::unordered_set<const Node*> seen;
  std::vector<Expr> out;
  collect(n, seen, out);
  return out;
}

bool mentions(const Node* n, const Node* symbol) {
  if (n == symbol) return true;
  if ((n->symbols & symbol->symbols) != symbol->symbols) return false;
  return std::ranges::any_of(n->operands(), [&](const Node* o) { return mentions(o, symbol); });
}
}  // namespace

std::vector<Expr> symbols_of(Expr e) { return symbols_in(e.node()); }
std::vector<Expr> symbols_of(Bool b) { return symbols_in(b.node()); }
bool depends_on(Expr e, Expr symbol) { return mentions(e.node(), symbol.node()); }

std::optional<Linear> linear_in(Expr e, Expr symbol) {
  Expr zero = e.context().constant(0);
  Linear r{zero, zero};
  for (const Node* t : e.node()->terms()) {
    Expr term(t);
    if (!depends_on(term, symbol)) {
      r.rest = add_polynomials(r.rest, term);
      continue;
    }
    Expr cofactor = divide_term(t, symbol.node());
    if (!cofactor || depends_on(cofactor, symbol)) return std::nullopt;
    r.coefficient = add_polynomials(r.coefficient, cofactor);
  }
  return r;
}

std::vector<Expr> terms_of(Expr e) {
  std::vector<Expr> out;
  for (const Node* t : e.node()->terms()) out.push_back(Expr(t));
  return out;
}

}  // namespace stax::symbolic
