#include <limits>
#include <vector>

#include "matmul_helpers.h"
#include "runtime/cpu/team_grid.h"
#include "runtime/cpu/threads.h"

namespace stax::runtime::test {
namespace {

Array row_bias(std::int64_t m, std::int64_t n, std::mt19937& rng) {
  return random_array({n}, Dtype::f32, rng).with_layout(Layout{Dims{m, n}, Dims{0, 1}, 0});
}

TEST(MatmulPanels, EveryNumberOfRowsAgainstAPackedWeight) {
  std::mt19937 rng(1);
  for (const std::int64_t k : {1, 15, 16, 33, 200})
    for (const std::int64_t n : {1, 16, 31, 64, 65, 200}) {
      Product p;
      p.b = random_array({k, n}, Dtype::f32, rng);
      p.weight = true;
      for (std::int64_t m = 1; m <= 18; ++m) {
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n));
        p.a = random_array({m, k}, Dtype::f32, rng);
        p.out = random_array({m, n}, Dtype::f32, rng);
        check(p);
      }
    }
}

TEST(MatmulPanels, ManyRowsInPiecesThatTheTeamTakes) {
  std::mt19937 rng(5);
  for (const std::int64_t n : {33, 64, 160}) {
    Product p;
    p.b = random_array({48, n}, Dtype::f32, rng);
    p.weight = true;
    for (const std::int64_t m : {35, 36, 97, 515, 517, 1201}) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
      p.a = random_array({m, 48}, Dtype::f32, rng, {}, 3);
      p.out = random_array({m, n}, Dtype::f32, rng, {}, 7);
      p.bias = row_bias(m, n, rng);
      p.residual = random_array({m, n}, Dtype::f32, rng);
      p.activation = Activation::gelu_erf;
      check(p);
    }
  }
}

// Units of two strips and of one, more threads than units, a last panel of one strip.
TEST(MatmulPanels, FewRowsForTeamsOfEverySize) {
  std::mt19937 rng(7);
  const int before = num_threads();
  for (const std::int64_t n : {96, 200, 384})
    for (int threads = 1; threads <= 9; ++threads) {
      set_num_threads(threads);
      Product p;
      p.b = random_array({400, n}, Dtype::f32, rng);
      p.weight = true;
      for (const std::int64_t m : {6, 16}) {
        SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(m) + " x " + std::to_string(n));
        p.a = random_array({m, 400}, Dtype::f32, rng);
        p.out = random_array({m, n}, Dtype::f32, rng);
        check(p);
      }
    }
  set_num_threads(before);
}

TEST(MatmulPanels, TeamsShareTheLongerSideAndLeaveNobodyIdle) {
  using onednn::team_grid;
  const auto grid = [](int threads, std::int64_t m, std::int64_t n) {
    const auto g = team_grid(threads, m, n, 384);
    return std::pair(g.rows, g.columns);
  };
  EXPECT_EQ(grid(2, 2048, 384), std::pair(2, 1));
  EXPECT_EQ(grid(2, 1024, 1536), std::pair(2, 1));  // the kernels around share rows
  EXPECT_EQ(grid(2, 128, 1536), std::pair(1, 2));
  EXPECT_EQ(grid(2, 16, 1536), std::pair(1, 2));
  EXPECT_EQ(grid(1, 16, 1536), std::pair(1, 1));
  EXPECT_EQ(grid(4, 1, 384), std::pair(1, 4));
  EXPECT_EQ(grid(4, 24, 64), std::pair(2, 2));  // two strips of columns for four
  EXPECT_EQ(grid(3, 4096, 64), std::pair(3, 1));
}

TEST(MatmulPanels, EpiloguesAndGapsBetweenRows) {
  std::mt19937 rng(2);
  for (const std::int64_t m : {1, 7, 16})
    for (const Activation f : {Activation::none, Activation::gelu_erf, Activation::relu, Activation::tanh})
      for (int form = 0; form < 16; ++form) {
        SCOPED_TRACE(std::to_string(m) + " " + std::string(to_text(f)) + " " + std::to_string(form));
        const std::int64_t gap = form & 8 ? 5 : 0;
        Product p{random_array({m, 96}, Dtype::f32, rng, {}, gap), random_array({96, 80}, Dtype::f32, rng),
                  random_array({m, 80}, Dtype::f32, rng, {}, gap)};
        p.weight = true;
        p.activation = f;
        if (form & 1) p.bias = row_bias(m, 80, rng);
        if (form & 2) p.residual = random_array({m, 80}, Dtype::f32, rng);
        if (form & 4) p.scale = 0.125;
        check(p);
      }
}

// Rows [x, 0, ...] times columns [1, 0, ...]: the GELU of every x.
TEST(MatmulPanels, GeluEverywhere) {
  const std::int64_t m = 40'001, n = 64, k = 16;
  std::mt19937 rng(6);
  Product p{random_array({m, k}, Dtype::f32, rng), random_array({k, n}, Dtype::f32, rng),
            random_array({m, n}, Dtype::f32, rng)};
  std::vector<float> x(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < m; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i - 20'000) * 5e-4f;
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {infinity, -infinity, nan, -0.0f, 1e-30f, -1e-30f, 1e-42f, 1e30f, -1e30f};
  std::copy(std::begin(special), std::end(special), x.begin());
  std::fill_n(p.a.data_as<float>(), m * k, 0.0f);
  for (std::int64_t i = 0; i < m; ++i) p.a.data_as<float>()[k * i] = x[static_cast<std::size_t>(i)];
  std::fill_n(p.b.data_as<float>(), k * n, 0.0f);
  std::fill_n(p.b.data_as<float>(), n, 1.0f);
  p.weight = true;
  p.activation = Activation::gelu_erf;
  p.run();
  for (std::int64_t i = 0; i < m; ++i) {
    const double v = x[static_cast<std::size_t>(i)], want = v * 0.5 * (1 + std::erf(v / std::sqrt(2.0)));
    const float got = p.out.data_as<float>()[n * i];
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got)) << v;
    } else if (std::isinf(want)) {
      EXPECT_EQ(got, want);
    } else {
      EXPECT_NEAR(got, want, 1.2e-7 * std::abs(v)) << v;
    }
    if (!std::isnan(got) && v != 0) {  // a sum of -0 is 0
      EXPECT_EQ(std::signbit(got), std::signbit(v)) << v;
    }
  }
}

TEST(MatmulPanels, NothingIsWrittenBesideTheOutput) {
  std::mt19937 rng(3);
  const Array whole = random_array({9, 100}, Dtype::f32, rng);
  for (std::int64_t i = 0; i < 900; ++i) whole.data_as<float>()[i] = -77;
  Product p{random_array({7, 64}, Dtype::f32, rng), random_array({64, 90}, Dtype::f32, rng),
            whole.with_layout(Layout{Dims{7, 90}, Dims{100, 1}, 100})};
  p.weight = true;
  check(p);
  for (std::int64_t i = 0; i < 9; ++i)
    for (std::int64_t j = i == 0 || i == 8 ? 0 : 90; j < 100; ++j)
      EXPECT_EQ(whole.data_as<float>()[i * 100 + j], -77) << i << ", " << j;
}

TEST(MatmulPanels, WeightsInTurnAndReleased) {
  std::mt19937 rng(4);
  Product first{random_array({16, 128}, Dtype::f32, rng), random_array({128, 256}, Dtype::f32, rng),
                random_array({16, 256}, Dtype::f32, rng)};
  first.weight = true;
  for (int i = 0; i < 3; ++i) {
    Product second{random_array({16, 256}, Dtype::f32, rng), random_array({256, 640}, Dtype::f32, rng),
                   random_array({16, 640}, Dtype::f32, rng)};
    second.weight = true;
    check(first);
    check(second);
    if (i == 1) release_matmul_caches();
  }
}

}  // namespace
}  // namespace stax::runtime::test
