#include "matmul_helpers.h"

namespace stax::runtime::test {
namespace {

TEST(MatmulBatched, SizesAroundTheBlocks) {
  std::mt19937 rng(1);
  for (const std::int64_t m : {1, 7, 8, 9, 17})
    for (const std::int64_t n : {1, 15, 16, 31, 32, 33, 70})
      for (const std::int64_t k : {1, 15, 16, 17, 40})
        for (const bool turned : {false, true}) {
          SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k));
          Product p{random_array({6, m, k}, Dtype::f32, rng),
                    random_array({6, k, n}, Dtype::f32, rng, turned ? std::vector<int>{0, 2, 1} : std::vector<int>{}),
                    random_array({6, m, n}, Dtype::f32, rng)};
          p.scale = turned ? 0.25 : 1;
          check(p);
        }
}

// Heads that lie inside the rows of one matrix, as attention has them.
TEST(MatmulBatched, HeadsOfAttention) {
  std::mt19937 rng(2);
  for (const std::int64_t length : {5, 16, 50}) {
    Product p{random_array({3, 4, length, 32}, Dtype::f32, rng, {0, 2, 1, 3}),
              random_array({3, 4, 32, length}, Dtype::f32, rng, {0, 3, 1, 2}),
              random_array({3, 4, length, length}, Dtype::f32, rng)};
    check(p);
    Product mix{p.out, random_array({3, 4, length, 32}, Dtype::f32, rng, {0, 2, 1, 3}),
                random_array({3, 4, length, 32}, Dtype::f32, rng, {0, 2, 1, 3})};
    check(mix);
  }
}

TEST(MatmulBatched, BroadcastMatricesAndGaps) {
  std::mt19937 rng(3);
  const Array one = random_array({12, 20}, Dtype::f32, rng);
  Product p{random_array({5, 9, 12}, Dtype::f32, rng, {}, 3),
            one.with_layout(Layout{Dims{5, 12, 20}, Dims{0, 20, 1}, 0}),
            random_array({5, 9, 20}, Dtype::f32, rng, {}, 7)};
  check(p);
}

}  // namespace
}  // namespace stax::runtime::test
