#include <fmt/format.h>
#include <stax/base/error.h>

#include "symbolic/polynomial.h"
#include "symbolic/rules.h"

namespace stax::symbolic {

Expr plain_node(Op op, Expr a, Expr b) {
  const Node* operands[] = {a.node(), b.node()};
  return Expr(impl_of(a.node()).intern(op, operands));
}

Expr apply_rules(std::span<const Rule> rules, Op op, Expr a, Expr b, const Query& q) {
  for (const Rule& rule : rules) {
    // A rule whose constants leave 64 bits does not apply.
    if (Expr r = attempt([&] { return rule.apply(a, b, q); })) return r;
  }
  return plain_node(op, a, b);
}

Expr sum(Expr a, Expr b, const Query& q) { return q.facts() ? simplify_sum(add_polynomials(a, b), q) : a + b; }
Expr times(Expr a, Expr b, const Query& q) { return q.facts() ? simplify_sum(multiply_polynomials(a, b), q) : a * b; }
Expr difference(Expr a, Expr b, const Query& q) { return sum(a, b * -1, q); }

void throw_division_by_zero(Op op, Expr dividend) {
  std::string_view name = op == Op::floordiv   ? "floordiv"
                          : op == Op::floormod ? "floormod"
                          : op == Op::ceildiv  ? "ceildiv"
                          : op == Op::truncdiv ? "truncdiv"
                                               : "truncmod";
  throw UserError(fmt::format("{}({}, 0): division by zero", name, to_string(dividend)), {},
                  "Divide by a nonzero size");
}

}  // namespace stax::symbolic
