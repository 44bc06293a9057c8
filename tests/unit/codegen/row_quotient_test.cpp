// The arithmetic of stax_share of the Triton helpers, in the range that it is used in.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace stax::codegen {
namespace {

float share(float a, float b) {
  const float y = 1.0f / b, rest = std::fma(-b, y, 1.0f) * y;
  const float q = std::fma(a, y, a * rest);
  return std::fma(-std::fma(b, q, -a), y, q);
}

// A third of the mantissas are next to the ends, where rounding is hardest.
float number(std::uint64_t bits, int exponent) {
  const auto low = static_cast<std::uint32_t>(bits);
  const std::uint32_t m = bits >> 40 & 1 ? low : bits >> 41 & 1 ? low & 15 : ~(low & 15);
  return std::bit_cast<float>((static_cast<std::uint32_t>(exponent + 127) << 23) | (m & 0x7fffff));
}

TEST(RowQuotient, IsTheRoundedQuotient) {
  std::mt19937_64 random(11);
  std::int64_t wrong = 0;
  for (int i = 0; i < 4'000'000; ++i) {
    const std::uint64_t r = random(), s = random();
    const int eb = static_cast<int>(s >> 50) % 44 - 20;
    const float b = number(s, eb), a = number(r, eb - static_cast<int>(r >> 50) % (eb + 100));
    if (a <= b) wrong += share(a, b) != a / b;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(RowQuotient, SmallDividendsAreWithinAUnit) {
  std::mt19937_64 random(12);
  std::int64_t wrong = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t r = random(), s = random();
    const float b = number(s, static_cast<int>(s >> 50) % 44 - 20);
    const auto a = std::bit_cast<float>(static_cast<std::uint32_t>(r) % (27U << 23));  // below 2^-100, 0 and subnormals
    const auto unit = [&](float q) { return std::nextafter(q, INFINITY) - q; };
    wrong += std::fabs(static_cast<double>(share(a, b)) - static_cast<double>(a / b)) > unit(a / b);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(share(0, 3), 0);
  EXPECT_EQ(share(3, 3), 1);
}

}  // namespace
}  // namespace stax::codegen
