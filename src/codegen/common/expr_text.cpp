#include "codegen/common/expr_text.h"

#include <fmt/format.h>
#include <stax/base/error.h>

namespace stax::codegen {

using symbolic::Expr;
using symbolic::Op;

std::string fill_pattern(std::string_view pattern, std::string_view a, std::string_view b, std::string_view c,
                         std::string_view type) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '{' || i + 2 >= pattern.size() || pattern[i + 2] != '}') {
      text += pattern[i];
      continue;
    }
    switch (pattern[i + 1]) {
      case '0':
        text += a;
        break;
      case '1':
        text += b;
        break;
      case '2':
        text += c;
        break;
      default:
        text += type;
    }
    i += 2;
  }
  return text;
}

bool ExprText::plain_division(Expr e) const {
  return symbolic::range_of(e.operand(0), &facts_).lo >= 0 && symbolic::range_of(e.operand(1), &facts_).lo > 0;
}

std::string ExprText::binary(std::string_view pattern, Expr e, const SymbolNames& names) const {
  std::string second = (*this)(e.operand(1), names);
  if (e.operand(1).op() == Op::mul) second = fmt::format("({})", second);
  return fill_pattern(pattern, (*this)(e.operand(0), names), second);
}

// n / 4096 of a multiple of 65536 is n / 65536 * 16.
std::string ExprText::quotient(Expr e, const SymbolNames& names) const {
  const std::string_view pattern = plain_division(e) ? spelling_.divide : spelling_.floor_divide;
  const auto divisor = e.operand(1).constant();
  for (std::int64_t factor = spelling_.written_multiple; factor > 1; factor /= 2) {
    if (!divisor || *divisor <= 0 || *divisor > INT64_MAX / factor) continue;
    if (symbolic::multiple_of(e.operand(0), &facts_) % (*divisor * factor) != 0) continue;
    const std::string shorter = fill_pattern(pattern, (*this)(e.operand(0), names), std::to_string(*divisor * factor));
    return fmt::format("{} * {}", shorter, factor);
  }
  return binary(pattern, e, names);
}

// A factor, product or division; the sign of its coefficient is taken out.
std::string ExprText::term(Expr e, const SymbolNames& names, bool& negative) const {
  negative = false;
  if (const auto c = e.constant()) {
    negative = *c < 0 && *c != INT64_MIN;
    if (*c == INT64_MIN) return "(-9223372036854775807 - 1)";
    return std::to_string(negative ? -*c : *c);
  }
  switch (e.op()) {
    case Op::symbol: {
      const auto named = names.find(e);
      return named != names.end() ? named->second : e.name();
    }
    case Op::mul: {
      std::string text;
      for (std::size_t i = 0; i < e.operands().size(); ++i) {
        const Expr factor = e.operand(i);
        if (i == 0 && factor.is_constant(-1)) {
          negative = true;
          continue;
        }
        bool minus = false;
        std::string part = factor.op() == Op::add ? (*this)(factor, names) : term(factor, names, minus);
        if (minus) negative = !negative;
        if (!text.empty()) text += " * ";
        text += part;
      }
      return text;
    }
    case Op::add:
      return (*this)(e, names);
    case Op::floordiv:
      return fmt::format("({})", quotient(e, names));
    case Op::floormod:
      return fmt::format("({})", binary(plain_division(e) ? spelling_.modulo : spelling_.floor_modulo, e, names));
    case Op::ceildiv:
      return binary(spelling_.ceil_divide, e, names);
    case Op::truncdiv:
      return fmt::format("({})", binary(spelling_.trunc_divide, e, names));
    case Op::truncmod:
      return fmt::format("({})", binary(spelling_.trunc_modulo, e, names));
    case Op::min:
      return binary(spelling_.min, e, names);
    case Op::max:
      return binary(spelling_.max, e, names);
    default:
      throw InternalError("index expression has no source text: " + symbolic::to_string(e));
  }
}

std::string ExprText::bare(Expr e, const SymbolNames& names) const {
  std::string text;
  if (e.op() != Op::add) {
    bool negative = false;
    text = term(e, names, negative);
    return negative ? fmt::format("-{}", text) : text;
  }
  for (std::size_t i = 0; i < e.operands().size(); ++i) {
    bool negative = false;
    const std::string part = term(e.operand(i), names, negative);
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    text += part;
  }
  return text;
}

std::string ExprText::operator()(Expr e, const SymbolNames& names) const {
  std::string text = bare(e, names);
  return e.op() == Op::add || text.front() == '-' ? fmt::format("({})", text) : text;
}

}  // namespace stax::codegen
