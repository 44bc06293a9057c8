#include <thread>

#include "matmul_helpers.h"
#include "runtime/cpu/threads.h"

namespace stax::runtime::test {
namespace {

// Threads share weights (packed once or twice), primitives and a weight that one of them replaces.
TEST(MatmulConcurrency, SharedWeights) {
  set_num_threads(1);
  std::mt19937 rng(1);
  std::vector<Array> weights;
  for (int i = 0; i < 3; ++i) weights.push_back(random_array({48, 64}, Dtype::f32, rng));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 mine(t);
      for (int i = 0; i < 25; ++i) {
        const std::int64_t m = 1 + static_cast<std::int64_t>(mine() % 5);
        Product p{random_array({m, 48}, Dtype::f32, mine), weights[mine() % 3],
                  random_array({m, 64}, Dtype::f32, mine)};
        p.weight = true;
        check(p);
        if (i % 10 == 9) release_matmul_caches();
      }
    });
  for (auto& t : threads) t.join();
}

}  // namespace
}  // namespace stax::runtime::test
