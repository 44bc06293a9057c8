// Element types and their promotion.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stax {

// X(name, C++ type, bytes, kind)   kind: b bool, u unsigned, i signed, f float
#define STAX_DTYPES(X)                \
  X(boolean, bool, 1, b)              \
  X(u8, std::uint8_t, 1, u)           \
  X(i8, std::int8_t, 1, i)            \
  X(i16, std::int16_t, 2, i)          \
  X(i32, std::int32_t, 4, i)          \
  X(i64, std::int64_t, 8, i)          \
  X(f16, ::stax::Half, 2, f)          \
  X(bf16, ::stax::BFloat16, 2, f)     \
  X(f32, float, 4, f)                 \
  X(f64, double, 8, f)                \
  X(f8e4m3, ::stax::Float8E4M3, 1, f) \
  X(f8e5m2, ::stax::Float8E5M2, 1, f)

enum class Dtype : std::uint8_t {
#define X(name, type, bytes, kind) name,
  STAX_DTYPES(X)
#undef X
};
#define X(name, type, bytes, kind) inline constexpr Dtype name = Dtype::name;
STAX_DTYPES(X)
#undef X
inline constexpr int kDtypeCount = 0
#define X(name, type, bytes, kind) +1
    STAX_DTYPES(X)
#undef X
    ;

// IEEE and machine-learning half types: storage with conversions; arithmetic happens in float.
// Conversion from float rounds to nearest even; NaN stays NaN; overflow gives inf (e4m3: NaN, it has no inf).
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float v);
  explicit operator float() const;
};
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float v);
  explicit operator float() const;
};
struct Float8E4M3 {
  std::uint8_t bits = 0;
  Float8E4M3() = default;
  explicit Float8E4M3(float v);
  explicit operator float() const;
};
struct Float8E5M2 {
  std::uint8_t bits = 0;
  Float8E5M2() = default;
  explicit Float8E5M2(float v);
  explicit operator float() const;
};

std::string_view to_text(Dtype t);  // "f32"; also the spelling in every text form ("boolean" for bool)
std::string to_string(Dtype t);
std::optional<Dtype> parse_dtype(std::string_view text);
int byte_size(Dtype t);

enum class DtypeKind : std::uint8_t { boolean, unsigned_integer, signed_integer, floating };
DtypeKind kind_of(Dtype t);
inline bool is_floating(Dtype t) { return kind_of(t) == DtypeKind::floating; }
inline bool is_integral(Dtype t) {
  return kind_of(t) == DtypeKind::signed_integer || kind_of(t) == DtypeKind::unsigned_integer;
}
inline bool is_half(Dtype t) { return is_floating(t) && byte_size(t) < 4; }
// The type in which a value of `t` is computed inside a kernel: f32 for half types, else `t`.
inline Dtype compute_dtype(Dtype t) { return is_half(t) ? Dtype::f32 : t; }

// One operand of a promotion: `weak` marks 0-d tensors and scalars, which do not raise the dtype within its category.
struct PromotionOperand {
  Dtype dtype;
  bool scalar = false;    // a host scalar: lowest priority
  bool zero_dim = false;  // a 0-d tensor: middle priority
};
Dtype promote(Dtype a, Dtype b);  // PyTorch's table for two dimensioned tensors
template <class Range>
Dtype promote_all(const Range& operands);

// C++ type of a dtype, and back.
template <class T>
constexpr Dtype dtype_of();
#define X(name, type, bytes, kind)   \
  template <>                        \
  constexpr Dtype dtype_of<type>() { \
    return Dtype::name;              \
  }
STAX_DTYPES(X)
#undef X

// Calls f with a value-initialised C++ value of the dtype's type: visit_dtype(t, [&](auto zero) { using T =
// decltype(zero); … }).
template <class F>
decltype(auto) visit_dtype(Dtype t, F&& f) {
  switch (t) {
#define X(name, type, bytes, kind) \
  case Dtype::name:                \
    return f(type{});
    STAX_DTYPES(X)
#undef X
  }
  __builtin_unreachable();
}

// Promotion over any mix of tensors, 0-d tensors and scalars: categories bool < integer < float decide first.
template <class Range>
Dtype promote_all(const Range& operands) {
  std::optional<Dtype> level[3];
  for (const PromotionOperand& o : operands) {
    auto& slot = level[o.scalar ? 2 : o.zero_dim ? 1 : 0];
    slot = slot ? promote(*slot, o.dtype) : o.dtype;
  }
  auto category = [](Dtype t) { return is_floating(t) ? 2 : t == Dtype::boolean ? 0 : 1; };
  std::optional<Dtype> result;
  for (const auto& l : level) {
    if (!l) continue;
    if (!result)
      result = l;
    else if (category(*l) > category(*result))
      result = &l == &level[2] && *l == Dtype::f64 ? Dtype::f32 : promote(*result, *l);
  }
  if (!level[0] && !level[1] && result == Dtype::f64) return Dtype::f32;
  return result.value_or(Dtype::f32);
}

}  // namespace stax
