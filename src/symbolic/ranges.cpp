#include "symbolic/analysis.h"
#include "symbolic/node_facts.h"

namespace stax::symbolic {

namespace {
Range operand_range(const void* facts, const Node* n) { return range_of(Expr(n), static_cast<const Facts*>(facts)); }
std::int64_t operand_multiple(const void* facts, const Node* n) {
  return multiple_of(Expr(n), static_cast<const Facts*>(facts));
}
}  // namespace

Range range_of(Expr e, const Facts* facts) {
  const Node* n = e.node();
  if (!facts || !(n->symbols & facts->touched())) return n->range;
  if (n->op == Op::symbol) return facts->range(e);
  auto& cache = facts->range_cache();
  if (auto found = cache.find(n); found != cache.end()) return found->second;
  Range r = intersect(n->range, derive_range(*n, facts, operand_range, operand_multiple));
  if (Expr value = facts->value_of_atom(e)) {
    cache[n] = r;  // answers when the value leads back here
    r = intersect(r, range_of(value, facts));
  }
  cache[n] = r;
  return r;
}

std::int64_t multiple_of(Expr e, const Facts* facts) {
  const Node* n = e.node();
  if (!facts || !(n->symbols & facts->touched())) return n->multiple;
  if (n->op == Op::symbol) return facts->multiple_of(e);
  return derive_multiple(*n, facts, operand_multiple);
}

}  // namespace stax::symbolic
