#include "plan/expr_code.h"

#include <stax/base/error.h>

namespace stax::plan {

using symbolic::Op;

ExprCode::ExprCode(std::span<const symbolic::Expr> symbols) {
  for (const symbolic::Expr s : symbols) {
    register_of_.emplace(s.node(), static_cast<int>(initial_.size()));
    initial_.push_back(0);
  }
}

int ExprCode::emit(Op op, int a, int b) {
  const int to = static_cast<int>(initial_.size());
  initial_.push_back(0);
  code_.push_back({op, to, a, b});
  return to;
}

int ExprCode::add(const symbolic::Node* node) {
  if (auto it = register_of_.find(node); it != register_of_.end()) return it->second;
  const symbolic::Expr e(node);
  int result = -1;
  switch (e.op()) {
    case Op::constant:
      result = static_cast<int>(initial_.size());
      initial_.push_back(*e.constant());
      break;
    case Op::boolean:
      result = static_cast<int>(initial_.size());
      initial_.push_back(*symbolic::Bool(node).constant());
      break;
    case Op::symbol:
      STAX_CHECK(false, "symbol " + e.name() + " is not bound");
    default: {
      // Sums, products, conjunctions and disjunctions have any number of operands.
      const auto operands = e.operands();
      result = add(operands[0]);
      if (operands.size() == 1) result = emit(e.op(), result, result);
      for (std::size_t i = 1; i < operands.size(); ++i) result = emit(e.op(), result, add(operands[i]));
    }
  }
  register_of_.emplace(node, result);
  return result;
}

namespace {

// Quotients of divisors other than 0; INT64_MIN / -1 has been excluded.
bool divisible(std::int64_t a, std::int64_t b) { return b != 0 && !(b == -1 && a == INT64_MIN); }
std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  const std::int64_t r = a % b;
  return r != 0 && (r ^ b) < 0 ? r + b : r;
}
std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a ^ b) < 0 ? 1 : 0); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 && (a ^ b) >= 0 ? 1 : 0); }

}  // namespace

bool ExprCode::run(std::int64_t* r, int begin, int end) const {
  for (int i = begin; i < end; ++i) {
    const Instruction& in = code_[static_cast<std::size_t>(i)];
    const std::int64_t a = r[in.a], b = r[in.b];
    std::int64_t& to = r[in.to];
    switch (in.op) {
      case Op::add:
        if (__builtin_add_overflow(a, b, &to)) return false;
        break;
      case Op::mul:
        if (__builtin_mul_overflow(a, b, &to)) return false;
        break;
      case Op::floordiv:
        if (!divisible(a, b)) return false;
        to = floor_div(a, b);
        break;
      case Op::floormod:
        if (!divisible(a, b)) return false;
        to = floor_mod(a, b);
        break;
      case Op::ceildiv:
        if (!divisible(a, b)) return false;
        to = ceil_div(a, b);
        break;
      case Op::truncdiv:
        if (!divisible(a, b)) return false;
        to = a / b;
        break;
      case Op::truncmod:
        if (!divisible(a, b)) return false;
        to = a % b;
        break;
      case Op::min:
        to = a < b ? a : b;
        break;
      case Op::max:
        to = a > b ? a : b;
        break;
      case Op::eq:
        to = a == b;
        break;
      case Op::ne:
        to = a != b;
        break;
      case Op::lt:
        to = a < b;
        break;
      case Op::le:
        to = a <= b;
        break;
      case Op::logical_and:
        to = a & b;
        break;
      case Op::logical_or:
        to = a | b;
        break;
      case Op::logical_not:
        to = !a;
        break;
      case Op::constant:
      case Op::symbol:
      case Op::boolean:
        break;
    }
  }
  return true;
}

}  // namespace stax::plan
