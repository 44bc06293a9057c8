// Rows of a product that a team shares: each is computed once, whatever the number of rows and members.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "matmul_helpers.h"
#include "runtime/cpu/openmp.h"
#include "runtime/cpu/threads.h"

namespace stax::runtime::test {
namespace {

constexpr std::int64_t kMost = 2000, kInner = 80, kColumns = 33;
constexpr float kUntouched = -777;

// The first rows of one product of whole numbers.
class MatmulTeams : public ::testing::Test {
 protected:
  MatmulTeams() {
    std::mt19937 rng(1);
    std::uniform_int_distribution<int> whole(-4, 4);
    for (const Array& x : {a, b})
      for (std::int64_t i = 0; i < x.numel(); ++i) x.data_as<float>()[i] = static_cast<float>(whole(rng));
    const float *left = a.data_as<float>(), *right = b.data_as<float>();
    for (std::int64_t i = 0; i < kMost; ++i)
      for (std::int64_t k = 0; k < kInner; ++k)
        for (std::int64_t j = 0; j < kColumns; ++j)
          want[static_cast<std::size_t>(i * kColumns + j)] += left[i * kInner + k] * right[k * kColumns + j];
  }
  ~MatmulTeams() override { set_num_threads(before); }

  // Whether the first `rows` rows are right and nothing is written behind them.
  bool is_right(std::int64_t rows) const {
    const Array memory = Array::empty({rows + 1, kColumns}, Dtype::f32);
    float* got = memory.data_as<float>();
    std::fill_n(got, memory.numel(), kUntouched);
    Product p{a.with_layout(Layout{Dims{rows, kInner}, Dims{kInner, 1}, 0}), b,
              memory.with_layout(Layout{Dims{rows, kColumns}, Dims{kColumns, 1}, 0})};
    p.weight = true;
    p.run();
    return std::equal(got, got + rows * kColumns, want.begin()) &&
           std::count(got + rows * kColumns, got + memory.numel(), kUntouched) == kColumns;
  }

  const int before = num_threads();
  const Array a = Array::empty({kMost, kInner}, Dtype::f32), b = Array::empty({kInner, kColumns}, Dtype::f32);
  std::vector<float> want = std::vector<float>(kMost * kColumns);
};

TEST_F(MatmulTeams, EveryRowOnce) {
  for (int threads = 1; threads <= 8; ++threads) {
    set_num_threads(threads);
    for (std::int64_t rows = 1; rows <= kMost; rows += 1 + rows / 3)
      ASSERT_TRUE(is_right(rows)) << rows << " rows, " << threads << " threads";
  }
}

TEST_F(MatmulTeams, MoreMembersThanShares) {
  set_num_threads(70);
  for (const std::int64_t rows : {401, 426, 1999}) EXPECT_TRUE(is_right(rows)) << rows;
}

// The caller's own parallel region gives a product no team of its own.
TEST_F(MatmulTeams, InsideAParallelRegion) {
  set_num_threads(4);
  std::atomic<int> products = 0, right = 0;
#pragma omp parallel num_threads(3)
  for (const std::int64_t rows : {1, 97, 1201}) ++products, right += is_right(rows);
  EXPECT_GE(products, 3);
  EXPECT_EQ(right, products);
}

TEST_F(MatmulTeams, InSeveralThreads) {
  set_num_threads(3);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (std::int64_t rows = 1 + t; rows <= kMost; rows += 111) right += is_right(rows);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 2 * 19);
}

}  // namespace
}  // namespace stax::runtime::test
