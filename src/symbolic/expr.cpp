#include "symbolic/expr.h"

#include <stax/base/error.h>

#include "symbolic/node.h"
#include "symbolic/polynomial.h"
#include "symbolic/rules.h"

namespace stax::symbolic {

Op Expr::op() const { return node_->op; }
std::span<const Node* const> Expr::operands() const { return node_->operands(); }
Expr Expr::operand(std::size_t i) const {
  STAX_CHECK(i < node_->count, "operand index out of range");
  return Expr(node_->operand[i]);
}
std::optional<std::int64_t> Expr::constant() const {
  if (node_->op != Op::constant) return std::nullopt;
  return node_->value;
}
const std::string& Expr::name() const {
  STAX_CHECK(node_->op == Op::symbol, "only a symbol has a name");
  return node_->symbol->name;
}
const SymbolInfo& Expr::info() const {
  STAX_CHECK(node_->op == Op::symbol, "only a symbol has declared facts");
  return node_->symbol->info;
}
Context& Expr::context() const { return *node_->context; }

Op Bool::op() const { return node_->op; }
std::span<const Node* const> Bool::operands() const { return node_->operands(); }
std::optional<bool> Bool::constant() const {
  if (node_->op != Op::boolean) return std::nullopt;
  return node_->value != 0;
}
Context& Bool::context() const { return *node_->context; }

Context::Context() : impl_(std::make_unique<Impl>(*this)) {}
Context::~Context() = default;
Expr Context::constant(std::int64_t value) { return Expr(impl_->constant(value)); }
Expr Context::symbol(std::string_view name, const SymbolInfo& info) { return Expr(impl_->symbol(name, info)); }
std::optional<Expr> Context::find_symbol(std::string_view name) const {
  auto found = impl_->symbols.find(name);
  if (found == impl_->symbols.end()) return std::nullopt;
  return Expr(found->second);
}
Bool Context::boolean(bool value) { return Bool(impl_->boolean(value)); }

namespace {
// Brings two operands into one context: a constant follows the other operand.
void join(Expr& a, Expr& b) {
  STAX_CHECK(a && b, "an operand is a null expression");
  if (a.node()->context == b.node()->context) [[likely]]
    return;
  if (auto v = a.constant()) {
    a = b.context().constant(*v);
  } else if (auto w = b.constant()) {
    b = a.context().constant(*w);
  } else {
    STAX_CHECK(false, "operands live in different contexts: " + to_string(a) + " and " + to_string(b));
  }
}

template <class Make>
Expr memoised(Op op, Expr a, Expr b, Make make) {
  join(a, b);
  auto& impl = impl_of(a.node());
  if (const Node* known = impl.memo.find(op, a.node(), b.node())) return Expr(known);
  Expr result = make(a, b);
  impl.memo.insert(op, a.node(), b.node(), result.node());
  return result;
}

template <class Make>
Bool memoised_bool(Op op, Expr a, Expr b, Make make) {
  join(a, b);
  auto& impl = impl_of(a.node());
  if (const Node* known = impl.memo.find(op, a.node(), b.node())) return Bool(known);
  Bool result = make(a, b);
  impl.memo.insert(op, a.node(), b.node(), result.node());
  return result;
}

const Query kDeclared(nullptr);
Expr number(Expr like, std::int64_t value) { return like.context().constant(value); }
}  // namespace

Expr operator+(Expr a, Expr b) {
  return memoised(Op::add, a, b, [](Expr x, Expr y) { return simplify_sum(add_polynomials(x, y), kDeclared); });
}
Expr operator*(Expr a, Expr b) {
  return memoised(Op::mul, a, b, [](Expr x, Expr y) { return simplify_sum(multiply_polynomials(x, y), kDeclared); });
}
Expr operator-(Expr a) { return a * number(a, -1); }
Expr operator-(Expr a, Expr b) { return a + -b; }
Expr operator+(Expr a, std::int64_t b) { return a + number(a, b); }
Expr operator-(Expr a, std::int64_t b) { return b == INT64_MIN ? a - number(a, b) : a + number(a, -b); }
Expr operator*(Expr a, std::int64_t b) { return a * number(a, b); }
Expr operator+(std::int64_t a, Expr b) { return b + a; }
Expr operator-(std::int64_t a, Expr b) { return number(b, a) - b; }
Expr operator*(std::int64_t a, Expr b) { return b * a; }

#define STAX_BINARY(name)                                                                         \
  Expr name(Expr a, Expr b) {                                                                     \
    return memoised(Op::name, a, b, [](Expr x, Expr y) { return make_##name(x, y, kDeclared); }); \
  }
STAX_BINARY(floordiv)
STAX_BINARY(floormod)
STAX_BINARY(ceildiv)
STAX_BINARY(truncdiv)
STAX_BINARY(truncmod)
STAX_BINARY(min)
STAX_BINARY(max)
#undef STAX_BINARY
Expr floordiv(Expr a, std::int64_t b) { return floordiv(a, number(a, b)); }
Expr floormod(Expr a, std::int64_t b) { return floormod(a, number(a, b)); }
Expr ceildiv(Expr a, std::int64_t b) { return ceildiv(a, number(a, b)); }

Bool eq(Expr a, Expr b) {
  return memoised_bool(Op::eq, a, b, [](Expr x, Expr y) { return make_eq(x, y, kDeclared); });
}
Bool le(Expr a, Expr b) {
  return memoised_bool(Op::le, a, b, [](Expr x, Expr y) { return make_le(x, y, kDeclared); });
}
Bool lt(Expr a, Expr b) {
  return memoised_bool(Op::lt, a, b, [](Expr x, Expr y) { return make_lt(x, y, kDeclared); });
}
Bool ne(Expr a, Expr b) { return !eq(a, b); }
Bool gt(Expr a, Expr b) { return lt(b, a); }
Bool ge(Expr a, Expr b) { return le(b, a); }
Bool eq(Expr a, std::int64_t b) { return eq(a, number(a, b)); }
Bool ne(Expr a, std::int64_t b) { return ne(a, number(a, b)); }
Bool lt(Expr a, std::int64_t b) { return lt(a, number(a, b)); }
Bool le(Expr a, std::int64_t b) { return le(a, number(a, b)); }
Bool gt(Expr a, std::int64_t b) { return gt(a, number(a, b)); }
Bool ge(Expr a, std::int64_t b) { return ge(a, number(a, b)); }

Expr product(Context& context, std::span<const Expr> factors) {
  Expr r = context.constant(1);
  for (Expr f : factors) r = r * f;
  return r;
}

}  // namespace stax::symbolic
