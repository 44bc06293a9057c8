// Random numbers: known answers of Philox, the same bits in kernels and in base, moments of the distributions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/philox.h"
#include "math_kernel.h"

namespace stax::codegen {
namespace {

TEST(Philox, KnownAnswers) {
  using Words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(base::philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(base::philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(base::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, KernelsGiveTheBitsOfTheReference) {
  const std::string_view snippets[] = {"loadstore", "random"};
  constexpr std::string_view kBody = R"(
extern "C" void fill(f32* u, f32* g, i64 from, i64 seed, i64 n) {
  for (i64 i = 0; i < n; i += v::L) {
    i64v at = v::iota<i64>() + (from + i);
    v::store_part(u + i, v::random_uniform(at, seed), n - i < v::L ? n - i : v::L);
    v::store_part(g + i, v::random_normal(at, seed), n - i < v::L ? n - i : v::L);
  }
}
extern "C" f32 one(i64 at, i64 seed) { return v::random_normal(at, seed); }
)";
  for (const auto& [width, flags] :
       {std::pair{16, "-march=x86-64"}, {16, "-march=native"}, {32, "-march=native"}, {64, "-march=native"}}) {
    const MathKernel kernel(snippets, kBody, width, flags);
    const auto fill = kernel.function<void(float*, float*, std::int64_t, std::int64_t, std::int64_t)>("fill");
    for (const std::int64_t from : {std::int64_t{0}, (std::int64_t{1} << 32) - 500, (std::int64_t{1} << 40) + 3}) {
      constexpr int kCount = 100003;
      const std::int64_t seed = from == 0 ? 5 : -77777777777;
      std::vector<float> u(kCount), g(kCount);
      fill(u.data(), g.data(), from, seed, kCount);
      for (int i = 0; i < kCount; ++i) {
        const auto s = static_cast<std::uint64_t>(seed), e = static_cast<std::uint64_t>(from + i);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(u[i]), std::bit_cast<std::uint32_t>(base::random_uniform(s, e))) << i;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(g[i]), std::bit_cast<std::uint32_t>(base::random_normal(s, e))) << i;
      }
      EXPECT_EQ(kernel.function<float(std::int64_t, std::int64_t)>("one")(from + 9, seed), g[9]);
    }
  }
}

TEST(Random, MomentsAreThoseOfTheDistributions) {
  constexpr int kCount = 1 << 20;
  double u1 = 0, u2 = 0, g1 = 0, g2 = 0, g4 = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = base::random_uniform(1, i), g = base::random_normal(1, i);
    ASSERT_TRUE(u >= 0 && u < 1);
    ASSERT_TRUE(std::isfinite(g));
    u1 += u, u2 += u * u, g1 += g, g2 += g * g, g4 += g * g * g * g;
  }
  EXPECT_NEAR(u1 / kCount, 0.5, 2e-3);
  EXPECT_NEAR(u2 / kCount, 1.0 / 3, 2e-3);
  EXPECT_NEAR(g1 / kCount, 0, 5e-3);
  EXPECT_NEAR(g2 / kCount, 1, 7e-3);
  EXPECT_NEAR(g4 / kCount, 3, 5e-2);
}

TEST(Random, NormalIsBoxMuller) {
  for (std::uint64_t e = 0; e < 20000; ++e) {
    const auto block = base::philox({static_cast<std::uint32_t>(e), 0, 0, 0}, {3, 0});
    const double u = ((block[0] >> 8) + 1.0) * 0x1p-24, t = (block[1] >> 8) * 0x1p-24;
    ASSERT_NEAR(base::random_normal(3, e), std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * t), 2e-6) << e;
  }
}

}  // namespace
}  // namespace stax::codegen
