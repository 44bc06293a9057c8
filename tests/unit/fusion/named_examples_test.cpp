// Kernel counts of the named examples, static and dynamic, with the same values as before.
#include <gtest/gtest.h>

#include "fusion/fusion.h"
#include "program_maker.h"

namespace stax::fusion::test {
namespace {

using enum loop::ScalarOp;

class NamedExample : public ::testing::TestWithParam<bool> {
 protected:
  ProgramMaker m{GetParam()};

  // Fuses, verifies, compares the values; returns the result.
  FusionResult fused(const FusionOptions& options = {}, bool exact = false) {
    const loop::Program before = m.program();
    loop::verify(before);
    FusionResult r = fuse(before, options);
    loop::verify(r.program);
    EXPECT_EQ(difference(before, r.program, m.bindings(7, exact)), "") << loop::to_text(r.program);
    EXPECT_EQ(kernel_count(r.program), r.kernels_after);
    return r;
  }
  void expect_kernels(int n, const FusionOptions& options = {}) {
    const FusionResult r = fused(options);
    EXPECT_EQ(r.kernels_after, n) << loop::to_text(r.program) << report(r);
  }
  std::string first_name(const FusionResult& r) { return std::get<loop::Kernel>(r.program.items.at(0)).name; }
};

TEST_P(NamedExample, AddReluMulRowSumIsOneKernel) {  // E1.1
  const Expr s0 = m.size(64), s1 = m.size(128);
  const View x = m.input({s0, s1}), y = m.input({s0, s1});
  const View sum = m.binary(add, x, y);
  const View h = m.binary(max, sum, m.binary(sub, x, x));
  m.output(m.reduce(CombineOp::sum, m.binary(mul, h, h), {1}));
  const FusionResult r = fused();
  EXPECT_EQ(r.kernels_after, 1) << report(r);
  EXPECT_TRUE(r.refusals.empty());
  EXPECT_EQ(first_name(r), "red_add_sub_max_mul_sum");
}

TEST_P(NamedExample, TransposedAddIsOneKernel) {  // E6.1
  const Expr s0 = m.size(256), s1 = m.size(512);
  const View x = m.input({s1, s0}), y = m.input({s0, s1});
  m.output(m.binary(add, m.transpose(x, 0, 1), y));
  expect_kernels(1);
}

View softmax(ProgramMaker& m, const View& x, int axis) {
  const View e = m.unary(exp, m.binary(sub, x, m.reduce(CombineOp::max, x, {axis}, true)));
  return m.binary(div, e, m.reduce(CombineOp::sum, e, {axis}, true));
}

TEST_P(NamedExample, SoftmaxIsOneKernel) {
  const Expr b = m.size(3), h = m.size(5), s = m.size(300), t = m.size(100);
  const View x = m.input({b, h, s, t});
  m.output(softmax(m, x, 3));
  const FusionResult r = fused();
  EXPECT_EQ(r.kernels_after, 1) << loop::to_text(r.program) << report(r);
  EXPECT_EQ(first_name(r), "per_max_sub_exp_sum_div");
  // Nothing but the input is read and nothing but the output is written.
  EXPECT_EQ(r.program.buffers.size(), 2u) << loop::to_text(r.program);
}

TEST_P(NamedExample, SoftmaxWithFollowersOverMergedAxesIsOneKernel) {
  const Expr b = m.size(6), s = m.size(50), t = m.size(100);
  const View x = m.input({b, s, t}), scale = m.input({b * s, t});
  View y = softmax(m, x, 2);
  y.sizes = {b * s, t};
  y.strides = {t, m.number(1)};
  m.output(m.binary(mul, y, scale));
  expect_kernels(1);
}

TEST_P(NamedExample, LogSoftmaxIsOneKernel) {
  const View x = m.input({m.size(200), m.size(100)});
  const View d = m.binary(sub, x, m.reduce(CombineOp::max, x, {1}, true));
  m.output(m.binary(sub, d, m.unary(log, m.reduce(CombineOp::sum, m.unary(exp, d), {1}, true))));
  expect_kernels(1);
}

View layer_norm(ProgramMaker& m, const View& x, const View& w, const View& b) {
  const int last = static_cast<int>(x.sizes.size()) - 1;
  const View d = m.binary(sub, x, m.mean(x, {last}));
  const View rstd = m.unary(rsqrt, m.add_number(m.mean(m.binary(mul, d, d), {last}), 1e-5));
  return m.binary(add, m.binary(mul, m.binary(mul, d, rstd), w), b);
}

TEST_P(NamedExample, LayerNormIsOneKernel) {
  const Expr b = m.size(8), s = m.size(64), d = m.size(96);
  const View x = m.input({b, s, d}), w = m.input({d}), bias = m.input({d});
  m.output(layer_norm(m, x, w, bias));
  const FusionResult r = fused();
  EXPECT_EQ(r.kernels_after, 1) << loop::to_text(r.program) << report(r);
  EXPECT_EQ(r.program.buffers.size(), 4u) << loop::to_text(r.program);
}

TEST_P(NamedExample, HalvesOfANormalisedRowAreMultipliedInTheSameKernel) {
  const Expr n = m.size(256), d = m.number(96);
  const View x = m.input({n, d}), w = m.input({d}), bias = m.input({d});
  const View y = layer_norm(m, x, w, bias);
  const View a = m.slice(y, 1, m.number(0), m.number(48)), b = m.slice(y, 1, m.number(48), m.number(48));
  m.output(m.binary(mul, a, m.unary(tanh, b)));
  expect_kernels(1);
}

TEST_P(NamedExample, ResidualAndRmsNormWithTwoOutputsIsOneKernel) {
  const Expr n = m.size(256), d = m.size(96);
  const View x = m.input({n, d}), r = m.input({n, d}), w = m.input({d});
  const View h = m.binary(add, x, r);
  m.output(h);
  const View rms = m.unary(rsqrt, m.add_number(m.mean(m.binary(mul, h, h), {1}), 1e-6));
  m.output(m.binary(mul, m.binary(mul, h, rms), w));
  expect_kernels(1);
}

TEST_P(NamedExample, MiddleAxisMeanThenNormaliseIsOneKernelWhileItsColumnsFitTheCache) {
  const Expr b = m.size(4), s = m.size(60), c = m.size(128);
  const View x = m.input({b, s, c});
  m.output(m.binary(sub, x, m.mean(x, {1})));
  expect_kernels(1);
  FusionOptions small_cache;
  small_cache.cache_bytes = 1024;
  const FusionResult r = fused(small_cache);
  EXPECT_EQ(r.kernels_after, 2);
  ASSERT_FALSE(r.refusals.empty());
  EXPECT_NE(r.refusals[0].reason.find("does not stay in a cache of 1024 bytes"), std::string::npos) << report(r);
}

TEST_P(NamedExample, MeanAndVarianceReturnedTogetherIsOneKernel) {
  const Expr n = m.size(256), d = m.size(96);
  const View x = m.input({n, d});
  const View mean = m.mean(x, {1});
  m.output(mean);
  const View c = m.binary(sub, x, mean);
  m.output(m.mean(m.binary(mul, c, c), {1}));
  expect_kernels(1);
}

TEST_P(NamedExample, GeluChainIsOneKernel) {
  const View x = m.input({m.size(64), m.size(300)});
  const View t = m.unary(tanh, m.binary(mul, x, m.add_number(m.binary(mul, x, x), 1)));
  m.output(m.binary(mul, x, m.add_number(t, 1)));
  expect_kernels(1);
}

TEST_P(NamedExample, SeveralReductionsOfTheSameRowsAreOneKernel) {
  const View x = m.input({m.size(200), m.size(100)});
  m.output(m.reduce(CombineOp::sum, x, {1}));
  m.output(m.reduce(CombineOp::max, x, {1}));
  m.output(m.reduce(CombineOp::argmax, x, {1}));
  const FusionResult r = fused();
  EXPECT_EQ(r.kernels_after, 1) << report(r);
  EXPECT_EQ(std::get<loop::Kernel>(r.program.items[0]).phases.size(), 2u) << loop::to_text(r.program);
}

TEST_P(NamedExample, ReductionsOverDifferentAxesStayApartWithAReason) {
  const View x = m.input({m.size(200), m.size(100)});
  m.output(m.reduce(CombineOp::sum, x, {1}));
  m.output(m.reduce(CombineOp::sum, x, {0}));
  const FusionResult r = fused();
  EXPECT_EQ(r.kernels_after, 2);
  ASSERT_EQ(r.refusals.size(), 1u);
  EXPECT_EQ(r.refusals[0].reason, "they reduce over different axes");
  EXPECT_EQ(r.refusals[0].bytes, 200 * 100 * 4);
  EXPECT_EQ(report(r),
            "2 kernels became 2; 161.2 kB of 161.2 kB of traffic remain\n"
            "  red_sum | red_sum_2: they reduce over different axes (80.0 kB at stake)\n");
}

TEST_P(NamedExample, HorizontalPointwiseOverTheSameInputIsOneKernel) {
  const Expr a = m.size(200), b = m.size(100);
  const View x = m.input({a, b}), y = m.input({b, a});
  m.output(m.unary(exp, x));
  m.output(m.binary(mul, x, m.transpose(y, 0, 1)));
  expect_kernels(1);
}

TEST_P(NamedExample, StoresAlongDifferentAxesStayApart) {
  const Expr a = m.size(200), b = m.size(100);
  const View x = m.input({a, b}), y = m.input({b, a});
  m.output(m.unary(exp, x));
  m.output(m.binary(mul, m.transpose(x, 0, 1), y));
  const FusionResult r = fused();
  EXPECT_EQ(r.kernels_after, 2);
  EXPECT_EQ(r.refusals.at(0).reason,
            "their stores run along different axes, which tiles in separate kernels serve better");
}

TEST_P(NamedExample, RowSumWithAPointwiseSiblingReadsTheInputOnce) {
  const View x = m.input({m.size(200), m.size(100)});
  m.output(m.reduce(CombineOp::sum, x, {1}));
  m.output(m.unary(exp, x));
  const FusionResult r = fused();
  EXPECT_EQ(r.kernels_after, 1) << report(r);
  EXPECT_EQ(loop::reads_of(std::get<loop::Kernel>(r.program.items[0])).size(), 1u) << loop::to_text(r.program);
}

TEST_P(NamedExample, ScanTakesItsPointwiseNeighbours) {
  const View x = m.input({m.size(200), m.size(100)});
  m.output(m.unary(exp, m.scan(CombineOp::sum, m.unary(neg, x), 1)));
  const FusionResult r = fused();
  EXPECT_EQ(r.kernels_after, 1) << report(r);
  EXPECT_EQ(first_name(r), "scan_neg_cumsum_exp");
}

TEST_P(NamedExample, ScanThenRowSumStayApart) {
  const View x = m.input({m.size(200), m.size(100)});
  m.output(m.reduce(CombineOp::sum, m.scan(CombineOp::sum, x, 1), {1}));
  const FusionResult r = fused();
  EXPECT_EQ(r.kernels_after, 2);
  ASSERT_EQ(r.refusals.size(), 1u);
  EXPECT_EQ(r.refusals[0].reason, "a running value of a scan would be needed after its phase");
}

TEST_P(NamedExample, LibraryCallsAreNamedInTheReport) {
  const Expr n = m.size(64), d = m.size(32);
  const View x = m.input({n, d}), w = m.input({d, d});
  m.output(m.unary(exp, m.matmul(m.unary(neg, x), w)));
  const FusionResult r = fused();
  EXPECT_EQ(r.kernels_after, 2);
  ASSERT_EQ(r.refusals.size(), 2u);
  EXPECT_EQ(r.refusals[0].first, "poi_neg");
  EXPECT_EQ(r.refusals[0].second, "matmul");
  EXPECT_EQ(r.refusals[1].first, "matmul");
}

TEST_P(NamedExample, ExpensiveRowValueIsNotComputedForEveryElement) {
  const Expr n = m.size(64), d = m.size(1000);
  const View x = m.input({n, d}), s = m.input({n, m.number(1)});
  m.output(m.binary(mul, x, m.unary(exp, s)));
  const FusionResult r = fused();
  EXPECT_EQ(r.kernels_after, 2) << loop::to_text(r.program);
  EXPECT_EQ(r.refusals.at(0).reason, "only 512 bytes of 512768 would be saved") << report(r);
}

TEST_P(NamedExample, CheapRowValueIsInlined) {
  const View x = m.input({m.size(64), m.size(100)}),
             s = m.input({m.program().sizes.empty() ? m.number(64) : x.sizes[0], m.number(1)});
  m.output(m.binary(mul, x, m.add_number(s, 1)));
  expect_kernels(1);
}

TEST_P(NamedExample, DisabledKeepsKernelsAsLowered) {
  const View x = m.input({m.size(64), m.size(100)});
  m.output(m.unary(exp, m.unary(neg, x)));
  FusionOptions off;
  off.enabled = false;
  expect_kernels(2, off);
}

TEST_P(NamedExample, TheTargetMayRefuse) {
  const View x = m.input({m.size(200), m.size(100)});
  m.output(softmax(m, x, 1));
  FusionOptions o;
  o.can_emit = [](const Program&, const Kernel& k) {
    return k.phases.size() > 2 ? Decision::no("no more than two phases") : Decision::yes();
  };
  const FusionResult r = fused(o);
  EXPECT_GT(r.kernels_after, 1);
  EXPECT_NE(report(r).find("no more than two phases"), std::string::npos) << report(r);
}

INSTANTIATE_TEST_SUITE_P(Sizes, NamedExample, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "dynamic" : "fixed"; });

}  // namespace
}  // namespace stax::fusion::test
