// The arithmetic of stax_div_rows of the Triton helpers, in the range that it is used in: equal to the division.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace stax::codegen {
namespace {

float quotient(float a, float b) {
  const float y = 1.0f / b;
  float q = a * y;
  q = std::fma(std::fma(-b, q, a), y, q);
  return std::fma(std::fma(-b, q, a), y, q);
}

float with(std::uint32_t mantissa, int exponent) {
  return std::bit_cast<float>((static_cast<std::uint32_t>(exponent + 127) << 23) | (mantissa & 0x7fffff));
}

TEST(RowQuotient, IsTheRoundedQuotient) {
  std::mt19937_64 random(11);
  std::int64_t wrong = 0;
  for (int i = 0; i < 4'000'000; ++i) {
    const std::uint64_t r = random(), s = random();
    // A third of the mantissas are next to the ends, where rounding is hardest.
    const auto mantissa = [&](std::uint64_t bits) {
      const auto m = static_cast<std::uint32_t>(bits);
      return bits >> 40 & 1 ? m : bits >> 41 & 1 ? m & 15 : ~(m & 15);
    };
    const float a = with(mantissa(r), static_cast<int>(r >> 50) % 200 - 100);
    const float b = with(mantissa(s), static_cast<int>(s >> 50) % 40 - 20);
    wrong += quotient(a, b) != a / b;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(RowQuotient, AtTheEndsOfTheRange) {
  std::mt19937_64 random(12);
  std::int64_t wrong = 0;
  for (const int ea : {-100, 99})
    for (const int eb : {-20, 19})
      for (int i = 0; i < 500'000; ++i) {
        const float a = with(static_cast<std::uint32_t>(random()), ea),
                    b = with(static_cast<std::uint32_t>(random()), eb);
        wrong += quotient(a, b) != a / b;
      }
  for (const float b : {0x1p-20f, 0x1p20f})
    for (const float a : {0x1p-100f, 0x1p100f, -0x1p-100f, -0x1p100f}) wrong += quotient(a, b) != a / b;
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace stax::codegen
