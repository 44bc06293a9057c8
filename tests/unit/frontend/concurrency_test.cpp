#include <thread>

#include "helpers.h"

namespace stax {

TEST(FrontendConcurrency, ThreadsShareArtifactsAndCompile) {
  auto shared = compile([](Tensor x, Tensor y) { return sum(x * y + 1, -1); }, {.dynamic = Dynamic::yes});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const int n = 2 + (t + i) % 5;
        const std::vector<float> got = floats(shared(ones({n, 33}), full({n, 33}, 2.0f)));
        for (float v : got) wrong += v != 99;
      }
      auto own = compile([t](Tensor x) { return x * float(t + 1); });
      wrong += floats(own(ones({2})))[0] != static_cast<float>(t + 1);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(shared.stats().compiles, 1u);
}

// Artifacts for many sizes are made and asked at once, each call by the one that fits.
TEST(FrontendConcurrency, ThirtyTwoThreadsVaryShapes) {
  auto f = compile([](Tensor x, Scalar s) { return cat({x * s, sum(x, -1, true)}, -1); }, {.max_artifacts = 64});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 32; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 24; ++i) {
        const int n = 2 + (t + i) % 6;
        std::vector<float> expected(static_cast<std::size_t>(n), static_cast<float>(t));
        expected.push_back(static_cast<float>(n));
        wrong += floats(f(ones({1, n}), t)) != expected;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(f.stats().compiles, 6u);
  EXPECT_EQ(f.stats().fallbacks, 0u);
}

}  // namespace stax
