// Splits of reductions with too few outputs.
#include "fusion/split.h"

#include <gtest/gtest.h>

#include "fusion/fusion.h"
#include "program_maker.h"

namespace stax::fusion::test {
namespace {

using enum loop::ScalarOp;

TEST(SplitReductions, RowsOfSquaresForAGpuBecomeTwoPartsOf8192) {  // E6.2
  ProgramMaker m(false);
  const View x = m.input({m.size(64), m.size(16384)});
  m.output(m.reduce(CombineOp::sum, m.binary(mul, x, x), {1}));
  loop::Program p = m.program();
  EXPECT_EQ(split_reductions(p, SplitTarget::gpu(132)), std::vector<std::string>{"red_sum"});
  const FusionResult r = fuse(p);
  EXPECT_EQ(r.kernels_after, 2);
  EXPECT_EQ(loop::to_text(r.program), R"(program test
buffer b0: f32[64, 16384] strides (16384, 1) input 0
buffer b2: f32[64] strides (1) output
buffer b3: f32[64, 2] strides (2, 1)
kernel red_mul_sum outer (i4 < 64, i5 < 2) {
  phase (r6 < 8192) {
    %0 = load.f32 b0[16384*i4 + 8192*i5 + r6]  @0
    %1 = mul.f32 %0 %0  @0
    %2 = combine.f32 sum %1  @1
  }
  phase {
    store b3[2*i4 + i5] %2
  }
}
kernel red_sum outer (i2 < 64) {
  phase (r7 < 2) {
    %0 = load.f32 b3[2*i2 + r7]  @1
    %1 = combine.f32 sum %0  @1
  }
  phase {
    store b2[i2] %1
  }
}
return b2 [64] strides (1)
origin @0 mul
origin @1 sum
)");
  EXPECT_EQ(difference(m.program(), r.program, m.bindings(1, true)), "");
}

TEST(SplitReductions, TheCpuSplitsOnlyWhenRowsAreFewerThanThreads) {
  const auto two_threads = SplitTarget::cpu(2), four_threads = SplitTarget::cpu(4);
  EXPECT_EQ(split_count(64, 16384, two_threads), 1);
  EXPECT_EQ(split_count(2, 1 << 22, two_threads), 1);
  EXPECT_EQ(split_count(2, 1 << 22, four_threads), 2);
  EXPECT_EQ(split_count(1, 1 << 22, two_threads), 2);  // a full sum
  EXPECT_EQ(split_count(1, 1000, two_threads), 1);     // too short to share
  EXPECT_EQ(split_count(0, 1 << 22, two_threads), 1);
}

TEST(SplitReductions, AGpuCutsLongRowsIntoPiecesOfAProgram) {
  const auto gpu = SplitTarget::gpu(132);
  EXPECT_EQ(split_count(64, 16384, gpu), 2);
  EXPECT_EQ(split_count(8, 4096, gpu), 1);
  EXPECT_EQ(split_count(1, std::int64_t{1} << 27, gpu), 4096);
  EXPECT_EQ(split_count(64, 1 << 21, gpu), 64);
  EXPECT_EQ(split_count(132, 1 << 21, gpu), 1);
}

// Softmax stays one kernel where its row is short: the largest element is needed for the whole row again.
TEST(SplitReductions, RowsThatAreVisitedAgainAreSplitLater) {
  for (const std::int64_t length : {std::int64_t{16384}, std::int64_t{1} << 20}) {
    ProgramMaker m(false);
    const View x = m.input({m.size(8), m.size(length)});
    const View largest = m.reduce(CombineOp::max, x, {1}, true);
    m.output(m.binary(sub, x, largest));
    loop::Program p = m.program();
    EXPECT_EQ(split_reductions(p, SplitTarget::gpu(132)).empty(), length == 16384);
    loop::Program q = m.program();
    EXPECT_TRUE(split_reductions(q, SplitTarget::cpu(16)).empty());
  }
}

TEST(SplitReductions, ColumnsCountByTheTile) {
  ProgramMaker m(false);
  const View x = m.input({m.size(1 << 16), m.size(32)});
  m.output(m.reduce(CombineOp::sum, x, {0}));
  loop::Program p = m.program();
  EXPECT_EQ(split_reductions(p, SplitTarget::cpu(4)).size(), 1u);
  EXPECT_EQ(p.buffers.back().sizes.back(), m.number(4));
}

class EveryCombine : public ::testing::TestWithParam<std::tuple<CombineOp, std::int64_t, bool>> {};

TEST_P(EveryCombine, PartsGiveTheWhole) {
  const auto [op, length, dynamic] = GetParam();
  ProgramMaker m(dynamic);
  const bool logical = op == CombineOp::any || op == CombineOp::all;
  const View x = m.input({m.size(3), m.size(length)}, logical                 ? Dtype::boolean
                                                      : op == CombineOp::prod ? Dtype::i32
                                                                              : Dtype::f64);
  for (const View& part : m.reduce_all_parts(op, x, 1)) m.output(part);
  loop::Program p = m.program();
  const auto names = split_reductions(p, {.parallel_units = 12, .min_chunk = 1, .column_tile = 1});
  EXPECT_EQ(names.empty(), length < 8);
  loop::verify(p);
  const loop::Bindings b = m.bindings(static_cast<std::uint32_t>(length), true);
  const auto whole = loop::interpret(m.program(), b), parts = loop::interpret(p, b);
  const bool exact = op != CombineOp::welford && op != CombineOp::online_softmax;
  for (std::size_t i = 0; i < whole.size(); ++i)
    for_each_index(whole[i].sizes(), [&](std::span<const std::int64_t> at) {
      const double w = read_f64(whole[i], at), q = read_f64(parts[i], at);
      if (exact)
        EXPECT_EQ(w, q) << i;
      else
        EXPECT_NEAR(w, q, 1e-12 * (1 + std::abs(w))) << i;
    });
}

INSTANTIATE_TEST_SUITE_P(Lengths, EveryCombine,
                         ::testing::Combine(::testing::Values(CombineOp::sum, CombineOp::prod, CombineOp::max,
                                                              CombineOp::min, CombineOp::argmax, CombineOp::argmin,
                                                              CombineOp::any, CombineOp::all, CombineOp::welford,
                                                              CombineOp::online_softmax),
                                            ::testing::Values(1, 7, 8, 9, 16, 31, 64), ::testing::Bool()));

TEST(SplitReductions, ADynamicLengthSplitAtTheHintHoldsForEveryLength) {
  ProgramMaker m(true);
  const View x = m.input({m.size(1), m.size(64)}, Dtype::f64);
  m.output(m.reduce(CombineOp::argmax, x, {1}));
  m.output(m.reduce(CombineOp::welford, x, {1}));
  loop::Program p = m.program();
  ASSERT_EQ(split_reductions(p, {.parallel_units = 8, .min_chunk = 1, .column_tile = 1}).size(), 2u);
  p = fuse(p).program;
  for (std::int64_t length = 1; length < 40; ++length) {
    loop::Bindings b = m.bindings(static_cast<std::uint32_t>(length), true);
    b.sizes[1] = length;
    const auto whole = loop::interpret(m.program(), b), parts = loop::interpret(p, b);
    const std::int64_t at[] = {0};
    EXPECT_EQ(read_i64(whole[0], at), read_i64(parts[0], at)) << length;
    EXPECT_NEAR(read_f64(whole[1], at), read_f64(parts[1], at), 1e-12) << length;
  }
}

TEST(SplitReductions, TheSecondLayerTakesTheConsumers) {
  ProgramMaker m(true);
  const View x = m.input({m.size(1), m.size(1 << 20)});
  m.output(m.unary(sqrt, m.reduce(CombineOp::sum, m.binary(mul, x, x), {1})));
  loop::Program p = m.program();
  split_reductions(p, SplitTarget::cpu(8));
  EXPECT_EQ(fuse(p).kernels_after, 2);
}

}  // namespace
}  // namespace stax::fusion::test
