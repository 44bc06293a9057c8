// Evaluation in 128 bits, so that the canonical form of an expression whose value fits gives that value.
#include <fmt/format.h>
#include <stax/base/error.h>

#include <algorithm>

#include "symbolic/analysis.h"
#include "symbolic/node.h"

namespace stax::symbolic {

namespace {
[[noreturn]] void throw_too_big(const Node* n) {
  throw UserError(fmt::format("integer overflow: the value of {} leaves 64 bits", to_string(Expr(n))), {},
                  "Use smaller sizes");
}

std::optional<Int128> value_of(const Node* n, const Lookup& lookup);

Int128 divide(const Node* n, Int128 a, Int128 b) {
  if (b == 0)
    throw UserError(fmt::format("division by zero in {}", to_string(Expr(n))), {}, "Divide by a nonzero size");
  switch (n->op) {
    case Op::floordiv:
      return floordiv_of(a, b);
    case Op::floormod:
      return floormod_of(a, b);
    case Op::ceildiv:
      return ceildiv_of(a, b);
    case Op::truncdiv:
      return a / b;
    default:
      return a % b;
  }
}

std::optional<Int128> fold(const Node* n, const Lookup& lookup) {
  bool product = n->op == Op::mul;
  Int128 r = product ? 1 : 0;
  for (const Node* o : n->operands()) {
    auto v = value_of(o, lookup);
    if (!v) return std::nullopt;
    bool overflow = product ? __builtin_mul_overflow(r, *v, &r) : __builtin_add_overflow(r, *v, &r);
    if (overflow) throw_too_big(n);
  }
  return r;
}

std::optional<Int128> value_of(const Node* n, const Lookup& lookup) {
  switch (n->op) {
    case Op::constant:
      return n->value;
    case Op::symbol: {
      auto v = lookup(Expr(n));
      return v ? std::optional<Int128>(*v) : std::nullopt;
    }
    case Op::add:
    case Op::mul:
      return fold(n, lookup);
    default:
      break;
  }
  auto a = value_of(n->operand[0], lookup), b = value_of(n->operand[1], lookup);
  if (!a || !b) return std::nullopt;
  if (n->op == Op::min) return std::min(*a, *b);
  if (n->op == Op::max) return std::max(*a, *b);
  return divide(n, *a, *b);
}

std::optional<bool> truth_of(const Node* n, const Lookup& lookup) {
  switch (n->op) {
    case Op::boolean:
      return n->value != 0;
    case Op::logical_not: {
      auto v = truth_of(n->operand[0], lookup);
      return v ? std::optional<bool>(!*v) : std::nullopt;
    }
    case Op::logical_and:
    case Op::logical_or: {
      bool decisive = n->op == Op::logical_or, complete = true;
      for (const Node* p : n->operands()) {
        auto v = truth_of(p, lookup);
        if (v == decisive) return decisive;
        complete &= v.has_value();
      }
      return complete ? std::optional<bool>(!decisive) : std::nullopt;
    }
    default:
      break;
  }
  auto a = value_of(n->operand[0], lookup), b = value_of(n->operand[1], lookup);
  if (!a || !b) return std::nullopt;
  switch (n->op) {
    case Op::eq:
      return *a == *b;
    case Op::ne:
      return *a != *b;
    case Op::lt:
      return *a < *b;
    default:
      return *a <= *b;
  }
}

std::optional<std::int64_t> hint_of_symbol(Expr symbol) { return symbol.info().hint; }
}  // namespace

std::optional<std::int64_t> evaluate(Expr e, const Lookup& lookup) {
  auto v = value_of(e.node(), lookup);
  if (!v) return std::nullopt;
  if (*v < INT64_MIN || *v > INT64_MAX) throw_too_big(e.node());
  return static_cast<std::int64_t>(*v);
}

std::optional<bool> evaluate(Bool b, const Lookup& lookup) { return truth_of(b.node(), lookup); }
std::optional<std::int64_t> hint_of(Expr e) { return evaluate(e, hint_of_symbol); }
std::optional<bool> hint_of(Bool b) { return evaluate(b, hint_of_symbol); }

}  // namespace stax::symbolic
