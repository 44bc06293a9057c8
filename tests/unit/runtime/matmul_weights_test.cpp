#include "matmul_helpers.h"

namespace stax::runtime::test {
namespace {

Product weighted(std::mt19937& rng, std::int64_t m = 8, std::int64_t k = 96, std::int64_t n = 100) {
  Product p{random_array({m, k}, Dtype::f32, rng), random_array({k, n}, Dtype::f32, rng),
            random_array({m, n}, Dtype::f32, rng)};
  p.weight = true;
  return p;
}

TEST(MatmulWeights, PackedOnceForEveryNumberOfRows) {
  std::mt19937 rng(1);
  release_matmul_caches();
  Product p = weighted(rng);
  const MatmulStats before = matmul_stats();
  for (const std::int64_t m : {8, 1, 33, 1200, 8}) {
    p.a = random_array({m, 96}, Dtype::f32, rng);
    p.out = random_array({m, 100}, Dtype::f32, rng);
    check(p);
  }
  const MatmulStats after = matmul_stats();
  if (after.packed == before.packed) GTEST_SKIP() << "the library has no layout of its own here";
  EXPECT_EQ(after.packed - before.packed, 1u);
  EXPECT_EQ(after.packed_hits - before.packed_hits, 4u);
}

TEST(MatmulWeights, TransposedWeightIsPackedToo) {
  std::mt19937 rng(2);
  Product p = weighted(rng);
  p.b = random_array({96, 100}, Dtype::f32, rng, {1, 0});
  check(p);
  check(p);
}

TEST(MatmulWeights, AWriteRepacks) {
  std::mt19937 rng(3);
  Product p = weighted(rng);
  check(p);
  for (int i = 0; i < 96 * 100; ++i) p.b.data_as<float>()[i] *= -2;
  p.b.storage()->bump_version();
  check(p);
}

TEST(MatmulWeights, AnEscapedStorageIsNeverKept) {
  std::mt19937 rng(4);
  Product p = weighted(rng);
  p.b.storage()->escape();
  const MatmulStats before = matmul_stats();
  check(p);
  for (int i = 0; i < 96 * 100; ++i) p.b.data_as<float>()[i] += 1;
  check(p);
  EXPECT_EQ(matmul_stats().packed, before.packed);
}

TEST(MatmulWeights, DroppedWithTheStorage) {
  std::mt19937 rng(5);
  release_matmul_caches();
  {
    Product p = weighted(rng);
    check(p);
  }
  EXPECT_EQ(matmul_stats().packed_weights, 0u);
  EXPECT_EQ(matmul_stats().packed_bytes, 0u);
}

TEST(MatmulWeights, TheLimitDropsTheLeastRecentlyUsed) {
  std::mt19937 rng(6);
  release_matmul_caches();
  std::vector<Product> products;
  for (int i = 0; i < 4; ++i) products.push_back(weighted(rng));
  products[0].run();
  const std::size_t one = matmul_stats().packed_bytes;
  if (one == 0) GTEST_SKIP() << "the library has no layout of its own here";
  set_packed_weight_limit(3 * one);
  for (int i = 1; i < 3; ++i) products[static_cast<std::size_t>(i)].run();
  products[0].run();
  products[3].run();  // drops 1
  EXPECT_EQ(matmul_stats().packed_weights, 3u);
  const MatmulStats before = matmul_stats();
  products[0].run();
  EXPECT_EQ(matmul_stats().packed, before.packed);
  check(products[1]);
  EXPECT_EQ(matmul_stats().packed, before.packed + 1);
  set_packed_weight_limit(std::size_t{4} << 30);
}

}  // namespace
}  // namespace stax::runtime::test
