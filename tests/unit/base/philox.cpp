// Philox 4x32-10 and the numbers made of it.
#include "base/philox.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stax::base {
namespace {

// Known answers of the Random123 distribution: zero counter and key; all bits set.
TEST(Philox, KnownAnswers) {
  using Words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  const std::uint32_t ones = ~0U;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
}

TEST(Philox, MomentsOfUniformAndNormal) {
  double sum = 0, squares = 0, uniforms = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double v = random_normal(42, static_cast<std::uint64_t>(i));
    const float u = random_uniform(42, static_cast<std::uint64_t>(i));
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
