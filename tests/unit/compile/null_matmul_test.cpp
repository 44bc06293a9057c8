// Matrix products on a GPU: the library gets what it can compute, the rest becomes kernels.
#include "null_device.h"
#include "plan/text.h"

namespace stax::compiler::test {
namespace {

// Library calls, then kernels, by name.
std::vector<std::string> steps_of(const std::string& text) {
  const auto artifact = compile_graph(null_graph(text), {}, session());
  std::vector<std::string> names = artifact->library_calls;
  for (const KernelReport& k : artifact->kernels) names.push_back(k.name);
  return names;
}
using Names = std::vector<std::string>;

std::string layer(const std::string& tail, const std::string& dtype = "f32") {
  return fmt::format(R"(
graph @layer(x: {0}[64, 256], w: {0}[512, 256], b: {0}[512], r: {0}[64, 512]) {{
  %9 = t(w) : {0}[256, 512] strides (1, 256)
  %0 = matmul_fused(x, %9, b) : {0}[64, 512]
{1}}}
)",
                     dtype, tail);
}

TEST(NullMatmul, BiasAndGeluJoinTheCall) {
  STAX_NEED_TRITON();
  EXPECT_EQ(steps_of(layer("  %1 = gelu(%0, approximate=\"tanh\") : bf16[64, 512]\n  return %1\n", "bf16")),
            Names{"matmul_bias_gelu_tanh"});
}

TEST(NullMatmul, ResidualsJoinTheCall) {
  STAX_NEED_TRITON();
  EXPECT_EQ(steps_of(layer("  %1 = add(%0, r) : f32[64, 512]\n  return %1\n")), Names{"matmul_bias_residual"});
}

TEST(NullMatmul, WhatTheLibraryLacksIsOneKernelWithItsNeighbours) {
  STAX_NEED_TRITON();
  EXPECT_EQ(steps_of(layer("  %1 = gelu(%0) : f32[64, 512]\n  %2 = add(%1, r) : f32[64, 512]\n  return %2\n")),
            (Names{"matmul_bias", "poi_gelu_add"}));
  EXPECT_EQ(steps_of(layer("  %1 = relu(%0) : f32[64, 512]\n  %2 = add(%1, r) : f32[64, 512]\n  return %2\n")),
            (Names{"matmul_bias", "poi_relu_add"}));
}

TEST(NullMatmul, EpiloguesOfDoublesAreKernels) {
  STAX_NEED_TRITON();
  EXPECT_EQ(steps_of(layer("  return %0\n", "f64")), (Names{"matmul", "poi_add"}));
}

TEST(NullMatmul, ProductsOfIntegersAreKernels) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(R"(
graph @product(x: i32[s0, s1], w: i32[s1, 17]) {
  size s0 in [2, 281474976710655] hint 33
  size s1 in [0, 281474976710655] hint 64
  %0 = matmul_fused(x, w) : i32[s0, 17]
  return %0
}
)"),
                                      {}, session());
  EXPECT_EQ(artifact->library_calls, Names{});
  ASSERT_EQ(artifact->kernels.size(), 1U) << explain(*artifact);
  EXPECT_NE(artifact->kernels[0].loops.find("combine.i64 sum"), std::string::npos) << artifact->kernels[0].loops;
}

}  // namespace
}  // namespace stax::compiler::test
