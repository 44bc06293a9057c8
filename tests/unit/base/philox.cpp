// Philox 4x32-10 and the numbers made of it.
#include "base/philox.h"

#include <gtest/gtest.h>

namespace stax::base {
namespace {

// Known answers of the Random123 distribution: zero counter and key.
TEST(Philox, KnownAnswer) {
  const auto x = philox(0, 0);
  EXPECT_EQ(x[0], 0x6627e8d5U);
  EXPECT_EQ(x[1], 0xe169c58dU);
  EXPECT_EQ(x[2], 0xbc57ac4cU);
  EXPECT_EQ(x[3], 0x9b00dbd8U);
}

TEST(Philox, LogarithmAndCosine) {
  for (std::uint64_t n = 1; n < (1ULL << 32); n += 1000003) {
    EXPECT_NEAR(log_of_fraction(n), std::log(static_cast<double>(n) * 0x1p-32), 2e-14) << n;
    EXPECT_NEAR(cos_of_turn(static_cast<std::uint32_t>(n)), std::cos(2 * M_PI * static_cast<double>(n) * 0x1p-32),
                2e-15)
        << n;
  }
  EXPECT_EQ(log_of_fraction(1ULL << 32), 0.0);
  EXPECT_EQ(cos_of_turn(0), 1.0);
}

TEST(Philox, Moments) {
  double sum = 0, squares = 0, uniforms = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double v = normal_f32(42, static_cast<std::uint64_t>(i));
    const float u = uniform_f32(42, static_cast<std::uint64_t>(i));
    ASSERT_TRUE(u >= 0 && u < 1 && std::isfinite(v));
    sum += v;
    squares += v * v;
    uniforms += u;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.02);
  EXPECT_NEAR(uniforms / n, 0.5, 0.005);
}

}  // namespace
}  // namespace stax::base
