// Combine operators: identities, and that merging parts of a row gives the row's result.
#include "loop/accumulate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace stax::loop {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

Value combine_of(CombineOp op, Dtype dtype, int operands) {
  Value v;
  v.op = ScalarOp::combine;
  v.combine = op;
  v.dtype = dtype;
  for (int i = 0; i < operands; ++i) v.args[static_cast<std::size_t>(i)] = i;
  return v;
}

struct Tuple {
  float parts[3] = {0, 0, 0};
};

// Reduces elements of a one-operand operator to its tuple.
Tuple reduce(CombineOp op, const std::vector<float>& row) {
  const auto acc = make_accumulator(combine_of(op, Dtype::f32, 1));
  acc->reset(1);
  for (const float& x : row) {
    const void* operands[3] = {&x, nullptr, nullptr};
    acc->step(1, operands);
  }
  Tuple t;
  for (int i = 0; i < info_of(op).parts; ++i) acc->read(1, i, &t.parts[i]);
  return t;
}

Tuple merge(CombineOp op, const std::vector<Tuple>& tuples) {
  const auto acc = make_accumulator(combine_of(op, Dtype::f32, info_of(op).parts));
  acc->reset(1);
  for (const Tuple& t : tuples) {
    const void* operands[3] = {&t.parts[0], &t.parts[1], &t.parts[2]};
    acc->step(1, operands);
  }
  Tuple result;
  for (int i = 0; i < info_of(op).parts; ++i) acc->read(1, i, &result.parts[i]);
  return result;
}

TEST(LoopAccumulate, EmptyRowsGiveTheIdentity) {
  EXPECT_EQ(reduce(CombineOp::sum, {}).parts[0], 0);
  EXPECT_EQ(reduce(CombineOp::prod, {}).parts[0], 1);
  EXPECT_EQ(reduce(CombineOp::max, {}).parts[0], -kInf);
  EXPECT_EQ(reduce(CombineOp::min, {}).parts[0], kInf);
  EXPECT_EQ(reduce(CombineOp::welford, {}).parts[2], 0);
  EXPECT_EQ(reduce(CombineOp::online_softmax, {}).parts[1], 0);
}

TEST(LoopAccumulate, SumIsRoundedOnce) {
  std::vector<float> row{1e8F};
  for (int i = 0; i < 100; ++i) row.push_back(1);
  EXPECT_EQ(reduce(CombineOp::sum, row).parts[0], 100000100.0F);
}

TEST(LoopAccumulate, IntegersWrap) {
  const auto acc = make_accumulator(combine_of(CombineOp::prod, Dtype::i64, 1));
  acc->reset(1);
  for (const std::int64_t x : {std::int64_t{1} << 62, std::int64_t{4}, std::int64_t{3}}) {
    const void* operands[3] = {&x, nullptr, nullptr};
    acc->step(1, operands);
  }
  std::int64_t out = 1;
  acc->read(1, 0, &out);
  EXPECT_EQ(out, 0);
}

TEST(LoopAccumulate, MergedPartsEqualTheRow) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(3, 2);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<float> row;
    std::vector<Tuple> softmax, welford;
    for (int part = 0; part < 4; ++part) {
      std::vector<float> piece;
      for (std::size_t i = 0; i < random() % 5; ++i) piece.push_back(random() % 4 == 0 ? -kInf : normal(random));
      softmax.push_back(reduce(CombineOp::online_softmax, piece));
      row.insert(row.end(), piece.begin(), piece.end());
    }
    const Tuple whole = reduce(CombineOp::online_softmax, row), parts = merge(CombineOp::online_softmax, softmax);
    EXPECT_EQ(whole.parts[0], parts.parts[0]);
    EXPECT_NEAR(whole.parts[1], parts.parts[1], 1e-6 * (1 + whole.parts[1]));
    for (float& x : row)
      if (std::isinf(x)) x = 0;
    for (std::size_t i = 0; i < row.size(); i += 3)
      welford.push_back(
          reduce(CombineOp::welford, {row.begin() + static_cast<std::ptrdiff_t>(i),
                                      row.begin() + static_cast<std::ptrdiff_t>(std::min(i + 3, row.size()))}));
    const Tuple a = reduce(CombineOp::welford, row), b = merge(CombineOp::welford, welford);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(a.parts[i], b.parts[i], 1e-5 * (1 + std::fabs(a.parts[i])));
  }
}

TEST(LoopAccumulate, InfinitiesAndNan) {
  EXPECT_EQ(reduce(CombineOp::online_softmax, {-kInf, -kInf}).parts[1], 0);
  EXPECT_TRUE(std::isnan(reduce(CombineOp::online_softmax, {1, kNan, 2}).parts[0]));
  EXPECT_TRUE(std::isnan(reduce(CombineOp::online_softmax, {1, kNan, 2}).parts[1]));
  EXPECT_TRUE(std::isnan(reduce(CombineOp::online_softmax, {1, kInf}).parts[1]));
  EXPECT_TRUE(std::isnan(reduce(CombineOp::max, {1, kNan, 2}).parts[0]));
  EXPECT_TRUE(std::isnan(reduce(CombineOp::welford, {1, kInf}).parts[1]));
}

}  // namespace
}  // namespace stax::loop
