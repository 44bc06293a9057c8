// Library calls that take over the copy of their result.
#include <gtest/gtest.h>

#include "fusion/fusion.h"
#include "program_maker.h"

namespace stax::fusion::test {
namespace {

FusionResult fused(ProgramMaker& m) {
  const loop::Program before = m.program();
  loop::verify(before);
  FusionResult r = fuse(before);
  loop::verify(r.program);
  EXPECT_EQ(difference(before, r.program, m.bindings(7, true)), "") << loop::to_text(r.program);
  return r;
}

class StoreThrough : public ::testing::TestWithParam<bool> {
 protected:
  ProgramMaker m{GetParam()};
  Expr batch = m.size(3), heads = m.size(4), length = m.size(5), width = m.size(6);
  View product() {
    return m.matmul(m.input({batch, heads, length, m.number(2)}), m.input({batch, heads, m.number(2), width}));
  }
};

// What attention does with its heads.
TEST_P(StoreThrough, HeadsIntoRows) {
  m.output(m.copy(m.transpose(product(), 1, 2)));
  const FusionResult r = fused(m);
  ASSERT_EQ(r.program.items.size(), 1u) << loop::to_text(r.program);
  const auto& out = std::get<loop::LibraryCall>(r.program.items[0]).out;
  EXPECT_EQ(out.strides, (std::vector<Expr>{length * heads * width, width, heads * width, m.number(1)}));
  EXPECT_EQ(r.kernels_after, 0);
  EXPECT_LT(r.bytes_after, r.bytes_before);
}

TEST_P(StoreThrough, WhatFollowsTheCopyReadsWhatTheCallStored) {
  m.output(m.unary(loop::ScalarOp::exp, m.copy(m.transpose(product(), 1, 2))));
  EXPECT_EQ(fused(m).kernels_after, 1);
}

TEST_P(StoreThrough, RowsOfUnlikeOrderStayACopy) {
  m.output(m.copy(m.transpose(product(), 2, 3)));  // columns would lie apart
  EXPECT_EQ(fused(m).kernels_after, 1);
}

TEST_P(StoreThrough, AResultThatIsReadTwiceIsKept) {
  const View x = product();
  m.output(m.copy(m.transpose(x, 1, 2)));
  m.output(m.unary(loop::ScalarOp::neg, x));
  EXPECT_EQ(fused(m).kernels_after, 1);  // both read it once
}

TEST_P(StoreThrough, AnOutputIsNotMoved) {
  const View x = product();
  m.output(x);
  m.output(m.copy(m.transpose(x, 1, 2)));
  EXPECT_EQ(fused(m).kernels_after, 1);
}

TEST_P(StoreThrough, APartIsACopy) {
  m.output(m.copy(m.slice(product(), 2, m.number(1), m.number(2))));
  EXPECT_EQ(fused(m).kernels_after, 1);
}

TEST_P(StoreThrough, AReversedCopyStaysOne) {
  m.output(m.copy(m.flip(product(), 1)));
  EXPECT_EQ(fused(m).kernels_after, 1);
}

TEST_P(StoreThrough, AConversionStaysAKernel) {
  m.output(m.cast(m.transpose(product(), 1, 2), Dtype::f64));
  EXPECT_EQ(fused(m).kernels_after, 1);
}

// The operands of the product may share memory with the input.
TEST_P(StoreThrough, AnInputIsWrittenAfterTheProduct) {
  const View x = m.input({batch, length, length});
  m.write(x, m.matmul(x, x));
  EXPECT_EQ(fused(m).kernels_after, 1);
}

TEST_P(StoreThrough, OffWhereTheTargetSaysSo) {
  m.output(m.copy(m.transpose(product(), 1, 2)));
  EXPECT_EQ(fuse(m.program(), {.calls_store_views = false}).kernels_after, 1);
}

INSTANTIATE_TEST_SUITE_P(Sizes, StoreThrough, ::testing::Bool(),
                         [](const auto& i) { return i.param ? "dynamic" : "static"; });

}  // namespace
}  // namespace stax::fusion::test
