// Truth values: negation is pushed inwards (so equal conditions meet), and/or are flat, sorted and free of repeats.
#include <algorithm>

#include "symbolic/order.h"
#include "symbolic/rules.h"

namespace stax::symbolic {

namespace {
void flatten(Op op, const Node* n, std::vector<const Node*>& out) {
  if (n->op == op) {
    out.insert(out.end(), n->operands().begin(), n->operands().end());
  } else {
    out.push_back(n);
  }
}

// For `and` the dominating value is false and the neutral one true; for `or` the other way round.
Bool combine(Op op, Bool a, Bool b) {
  bool neutral = op == Op::logical_and;
  if (auto v = a.constant()) return *v == neutral ? b : a;
  if (auto v = b.constant()) return *v == neutral ? a : b;
  if (a == b) return a;
  std::vector<const Node*> parts;
  flatten(op, a.node(), parts);
  flatten(op, b.node(), parts);
  std::sort(parts.begin(), parts.end(), [](const Node* x, const Node* y) { return compare_nodes(x, y) < 0; });
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  for (const Node* p : parts) {
    if (std::find(parts.begin(), parts.end(), (!Bool(p)).node()) != parts.end()) return a.context().boolean(!neutral);
  }
  return parts.size() == 1 ? Bool(parts[0]) : Bool(impl_of(parts[0]).intern(op, parts));
}

Bool negate(const Node* n) {
  auto& impl = impl_of(n);
  const Query declared(nullptr);
  switch (n->op) {
    case Op::boolean:
      return Bool(impl.boolean(n->value == 0));
    case Op::eq:
      return Bool(impl.intern(Op::ne, n->operands()));
    case Op::ne:
      return Bool(impl.intern(Op::eq, n->operands()));
    case Op::le:
      return make_lt(Expr(n->operand[1]), Expr(n->operand[0]), declared);
    case Op::lt:
      return make_le(Expr(n->operand[1]), Expr(n->operand[0]), declared);
    case Op::logical_not:
      return Bool(n->operand[0]);
    default:
      break;
  }
  Op dual = n->op == Op::logical_and ? Op::logical_or : Op::logical_and;
  Bool r = impl.owner.boolean(dual == Op::logical_and);
  for (const Node* p : n->operands()) r = combine(dual, r, !Bool(p));
  return r;
}
}  // namespace

Bool operator&&(Bool a, Bool b) { return combine(Op::logical_and, a, b); }
Bool operator||(Bool a, Bool b) { return combine(Op::logical_or, a, b); }
Bool operator!(Bool a) {
  auto& memo = impl_of(a.node()).memo;
  if (const Node* known = memo.find(Op::logical_not, a.node(), a.node())) return Bool(known);
  Bool r = negate(a.node());
  memo.insert(Op::logical_not, a.node(), a.node(), r.node());
  return r;
}

}  // namespace stax::symbolic
