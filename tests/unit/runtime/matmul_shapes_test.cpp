#include "matmul_helpers.h"

namespace stax::runtime::test {
namespace {

struct Case {
  std::vector<std::int64_t> batch;
  std::int64_t m, n, k;
};

std::vector<std::int64_t> sizes(const Case& c, std::int64_t rows, std::int64_t columns) {
  auto s = c.batch;
  s.push_back(rows);
  s.push_back(columns);
  return s;
}

Product plain(const Case& c, Dtype dtype, std::mt19937& rng) {
  return {random_array(sizes(c, c.m, c.k), dtype, rng), random_array(sizes(c, c.k, c.n), dtype, rng),
          random_array(sizes(c, c.m, c.n), dtype, rng)};
}

const std::vector<Case> kCases{{{}, 1, 1, 1},     {{}, 5, 7, 3},        {{}, 1, 64, 33},    {{}, 64, 1, 33},
                               {{}, 16, 384, 96}, {{}, 33, 17, 1},      {{}, 100, 130, 65}, {{3}, 4, 5, 6},
                               {{2, 3}, 7, 9, 8}, {{1, 5}, 16, 16, 32}, {{2, 1}, 1, 1, 5}};

TEST(Matmul, EveryDtypeAndShape) {
  std::mt19937 rng(1);
  for (const Dtype dtype :
       {Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::f64, Dtype::i64, Dtype::i32, Dtype::i8, Dtype::u8})
    for (const Case& c : kCases) {
      SCOPED_TRACE(std::string(to_text(dtype)) + " " + to_string(sizes(c, c.m, c.n)) + " k " + std::to_string(c.k));
      check(plain(c, dtype, rng));
    }
}

TEST(Matmul, LengthZero) {
  std::mt19937 rng(2);
  for (const Case& c :
       {Case{{}, 0, 4, 3}, Case{{}, 4, 0, 3}, Case{{0}, 2, 2, 2}, Case{{2}, 3, 4, 0}, Case{{}, 3, 4, 0}})
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f64, Dtype::i32}) {
      Product p = plain(c, dtype, rng);
      if (is_floating(dtype)) p.bias = random_array(sizes(c, c.m, c.n), dtype, rng);
      check(p);
    }
}

TEST(Matmul, LayoutsOfEveryOperand) {
  std::mt19937 rng(3);
  const std::vector<std::vector<int>> orders{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}, {1, 2, 0}};
  int round = 0;
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f64})
    for (const auto& oa : orders)
      for (const auto& ob : orders)
        for (const auto& oo : orders) {
          const std::int64_t gap = ++round % 2 * 3;
          SCOPED_TRACE(std::string(to_text(dtype)) + testing::PrintToString(oa) + testing::PrintToString(ob) +
                       testing::PrintToString(oo));
          check({random_array({3, 6, 5}, dtype, rng, oa, gap), random_array({3, 5, 4}, dtype, rng, ob, gap),
                 random_array({3, 6, 4}, dtype, rng, oo, gap)});
        }
}

TEST(Matmul, BroadcastNegativeAndOverlappingStrides) {
  std::mt19937 rng(4);
  const Array base = random_array({4096}, Dtype::f32, rng);
  auto view = [&](Dims sizes, Dims strides, std::int64_t offset) {
    return base.with_layout(Layout{std::move(sizes), std::move(strides), offset});
  };
  auto out = [&](std::vector<std::int64_t> s) { return random_array(std::move(s), Dtype::f32, rng); };
  check({view({4, 6, 5}, {0, 5, 1}, 0), view({4, 5, 3}, {15, 3, 1}, 7), out({4, 6, 3})});
  check({view({4, 6, 5}, {30, 5, 1}, 0), view({4, 5, 3}, {0, 3, 1}, 7), out({4, 6, 3})});
  check({view({2, 3, 6, 5}, {0, 30, 5, 1}, 0), view({2, 3, 5, 3}, {15, 0, 3, 1}, 7), out({2, 3, 6, 3})});
  check({view({6, 5}, {0, 1}, 0), view({5, 3}, {3, 1}, 7), out({6, 3})});
  check({view({6, 5}, {5, 0}, 0), view({5, 3}, {3, 1}, 7), out({6, 3})});
  check({view({6, 5}, {0, 0}, 9), view({5, 3}, {0, 0}, 7), out({6, 3})});
  check({view({6, 5}, {-5, -1}, 100), view({5, 3}, {3, -1}, 107), out({6, 3})});
  check({view({6, 5}, {5, 1}, 100), view({5, 3}, {-3, 1}, 107), out({6, 3})});
  check({view({6, 5}, {1, 1}, 100), view({5, 3}, {2, 1}, 107), out({6, 3})});
  check({view({3, 6, 5}, {-30, 5, 1}, 100), view({3, 5, 3}, {-15, 3, 1}, 107), out({3, 6, 3})});
  check({view({3, 6, 5}, {2, 5, 1}, 100), view({3, 5, 3}, {1, 3, 1}, 107), out({3, 6, 3})});
}

// Attention: heads lie inside the rows of one projection.
TEST(Matmul, HeadsInsideRows) {
  std::mt19937 rng(5);
  const std::int64_t batch = 2, length = 17, heads = 3, width = 8, row = 3 * heads * width;
  const Array qkv = random_array({batch * length * row}, Dtype::f32, rng);
  auto head = [&](std::int64_t offset) {
    return qkv.with_layout(Layout{{batch, heads, length, width}, {length * row, width, row, 1}, offset});
  };
  const Array q = head(0), k = head(heads * width), v = head(2 * heads * width);
  const Array kt = k.with_layout(Layout{{batch, heads, width, length}, {length * row, width, 1, row}, k.offset()});
  Product scores{q, kt, random_array({batch, heads, length, length}, Dtype::f32, rng)};
  scores.scale = 0.25;
  check(scores);
  Array mixed = random_array({batch, length, heads * width}, Dtype::f32, rng);
  mixed =
      mixed.with_layout(Layout{{batch, heads, length, width}, {length * heads * width, width, heads * width, 1}, 0});
  check({scores.out, v, mixed});
}

TEST(Matmul, RandomProblems) {
  std::mt19937 rng(6);
  auto pick = [&](std::initializer_list<std::int64_t> from) {
    return from.begin()[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(rng)];
  };
  for (int i = 0; i < 200; ++i) {
    Case c{{}, pick({1, 2, 7, 16, 31}), pick({1, 3, 8, 33, 64}), pick({1, 2, 9, 16, 40})};
    for (std::int64_t d = pick({0, 1, 2}); d-- > 0;) c.batch.push_back(pick({1, 2, 3}));
    auto shuffled = [&] {
      std::vector<int> order(c.batch.size() + 2);
      for (std::size_t j = 0; j < order.size(); ++j) order[j] = static_cast<int>(j);
      if (pick({0, 1})) std::shuffle(order.begin(), order.end(), rng);
      return order;
    };
    const Dtype dtype = pick({0, 1}) ? Dtype::f32 : Dtype::bf16;
    auto make = [&](std::int64_t rows, std::int64_t columns) {
      Array x = random_array(sizes(c, rows, columns), dtype, rng, shuffled(), pick({0, 0, 5}));
      return x;
    };
    auto broadcast = [&](const Array& x) {
      Layout l = x.layout();
      for (auto& stride : l.strides)
        if (pick({0, 0, 1})) stride = 0;
      return x.with_layout(l);
    };
    Product p{broadcast(make(c.m, c.k)), broadcast(make(c.k, c.n)), make(c.m, c.n)};
    if (pick({0, 1})) p.bias = broadcast(make(c.m, c.n));
    if (pick({0, 1})) p.residual = broadcast(make(c.m, c.n));
    if (pick({0, 1})) p.scale = 0.5;
    p.activation = static_cast<Activation>(pick({0, 0, 1, 2, 3, 4, 5, 6}));
    p.weight = pick({0, 1});
    SCOPED_TRACE(i);
    check(p);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace stax::runtime::test
