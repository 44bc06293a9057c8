#include "codegen/cpp/types.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <bit>
#include <cmath>
#include <limits>

namespace stax::codegen {
namespace {

template <class T, class Bits>
std::string float_literal(T v, Bits bits, std::string_view type, std::string_view suffix) {
  if (!std::isfinite(v)) return fmt::format("__builtin_bit_cast({}, {:#x})", type, bits);
  std::string text = fmt::format("{}", v);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + std::string(suffix);
}

}  // namespace

std::string_view memory_type(Dtype t) { return t == Dtype::boolean ? "b8" : to_text(t); }

std::string_view register_type(Dtype t) { return t == Dtype::boolean ? "bool" : to_text(compute_dtype(t)); }

std::string_view vector_type(Dtype t) {
  switch (compute_dtype(t)) {
    case Dtype::boolean:
      return "boolv";
    case Dtype::u8:
      return "u8v";
    case Dtype::i8:
      return "i8v";
    case Dtype::i16:
      return "i16v";
    case Dtype::i32:
      return "i32v";
    case Dtype::i64:
      return "i64v";
    case Dtype::f64:
      return "f64v";
    default:
      return "f32v";
  }
}

std::string literal(std::uint64_t bits, Dtype t) {
  switch (t) {
    case Dtype::boolean:
      return bits ? "true" : "false";
    case Dtype::f32: {
      const auto low = static_cast<std::uint32_t>(bits);
      return float_literal(std::bit_cast<float>(low), low, "f32", "f");
    }
    case Dtype::f64:
      return float_literal(std::bit_cast<double>(bits), bits, "f64", "");
    default: {
      const auto v = static_cast<std::int64_t>(bits);
      if (v == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807 - 1)";
      return fmt::format("{}", v);
    }
  }
}

std::uint64_t extreme_bits(Dtype t, bool largest) {
  return visit_dtype(t, [&](auto zero) -> std::uint64_t {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, float>) {
      return std::bit_cast<std::uint32_t>(largest ? std::numeric_limits<float>::infinity()
                                                  : -std::numeric_limits<float>::infinity());
    } else if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<std::uint64_t>(largest ? std::numeric_limits<double>::infinity()
                                                  : -std::numeric_limits<double>::infinity());
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<std::uint64_t>(
          static_cast<std::int64_t>(largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min()));
    } else {
      throw InternalError("extreme_bits: no compute dtype");
    }
  });
}

std::string splat(Dtype t, std::string_view text) {
  return t == Dtype::boolean ? fmt::format("v::splat({})", text)
                             : fmt::format("v::splat<{}>({})", register_type(t), text);
}

std::string literal_of(double v, Dtype t) {
  if (t == Dtype::f32) return literal(std::bit_cast<std::uint32_t>(static_cast<float>(v)), t);
  if (t == Dtype::f64) return literal(std::bit_cast<std::uint64_t>(v), t);
  return literal(static_cast<std::uint64_t>(static_cast<std::int64_t>(v)), t);
}

}  // namespace stax::codegen
