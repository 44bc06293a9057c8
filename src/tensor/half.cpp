#include <stax/tensor/dtype.h>

#include <bit>
#include <cmath>

namespace stax {

namespace {

// Rounds a float to a small binary format (nearest even). Overflow gives inf, or NaN where the format has no inf.
template <int kExponentBits, int kMantissaBits, bool kHasInf>
std::uint32_t encode(float v) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr std::uint32_t kExponentMask = ((1u << kExponentBits) - 1) << kMantissaBits;
  constexpr std::uint32_t kNan =
      kHasInf ? kExponentMask | (1u << (kMantissaBits - 1)) : (1u << (kExponentBits + kMantissaBits)) - 1;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
  const std::uint32_t sign = bits >> 31 << (kExponentBits + kMantissaBits);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude == 0) return sign;
  if (magnitude > 0x7f800000u) return sign | kNan;
  if (magnitude == 0x7f800000u) return sign | (kHasInf ? kExponentMask : kNan);
  const double a = std::fabs(static_cast<double>(v));
  int exponent = 0;
  std::frexp(a, &exponent);                                            // a = f · 2^exponent, f in [0.5, 1)
  const int unit = std::max(exponent - 1, 1 - kBias) - kMantissaBits;  // exponent of the last place
  const double scaled = std::nearbyint(std::ldexp(a, -unit));          // exact scaling, one rounding
  const auto mantissa = static_cast<std::uint32_t>(scaled);
  // mantissa == 2^(m+1) after a carry is handled by the addition below.
  const std::uint32_t biased = static_cast<std::uint32_t>(unit + kMantissaBits + kBias - 1);
  std::uint32_t code = (biased << kMantissaBits) + mantissa;
  constexpr std::uint32_t kLimit = kHasInf ? kExponentMask : kNan;
  if (code >= kLimit) code = kHasInf ? kExponentMask : kNan;
  return sign | code;
}

template <int kExponentBits, int kMantissaBits, bool kHasInf>
float decode(std::uint32_t code) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  const bool negative = code >> (kExponentBits + kMantissaBits) & 1;
  const std::uint32_t exponent = code >> kMantissaBits & ((1u << kExponentBits) - 1);
  const std::uint32_t mantissa = code & ((1u << kMantissaBits) - 1);
  const bool top = exponent == (1u << kExponentBits) - 1;
  float v;
  if (kHasInf && top)
    v = mantissa ? std::nanf("") : INFINITY;
  else if (!kHasInf && top && mantissa == (1u << kMantissaBits) - 1)
    v = std::nanf("");
  else if (exponent == 0)
    v = std::ldexp(static_cast<float>(mantissa), 1 - kBias - kMantissaBits);
  else
    v = std::ldexp(static_cast<float>(mantissa | 1u << kMantissaBits),
                   static_cast<int>(exponent) - kBias - kMantissaBits);
  return negative ? -v : v;
}

}  // namespace

Half::Half(float v) : bits(static_cast<std::uint16_t>(encode<5, 10, true>(v))) {}
Half::operator float() const { return decode<5, 10, true>(bits); }
BFloat16::BFloat16(float v) {
  const auto b = std::bit_cast<std::uint32_t>(v);
  if ((b & 0x7fffffffu) > 0x7f800000u)
    bits = static_cast<std::uint16_t>(b >> 16 | 0x40);
  else
    bits = static_cast<std::uint16_t>((b + 0x7fffu + (b >> 16 & 1)) >> 16);
}
BFloat16::operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
Float8E4M3::Float8E4M3(float v) : bits(static_cast<std::uint8_t>(encode<4, 3, false>(v))) {}
Float8E4M3::operator float() const { return decode<4, 3, false>(bits); }
Float8E5M2::Float8E5M2(float v) : bits(static_cast<std::uint8_t>(encode<5, 2, true>(v))) {}
Float8E5M2::operator float() const { return decode<5, 2, true>(bits); }

}  // namespace stax
