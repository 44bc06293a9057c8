// Batched products on a GPU: the library steps through the matrices by one stride, so heads beside batches are copied
// into a run.
#include "null_device.h"
#include "passes/lower.h"

namespace stax::compiler::test {
namespace {

// Queries and keys as they come out of one projection: [batch, length, 3, heads, head size].
constexpr const char* kAttention = R"(
graph @attention(x: f32[s0, s1, 3, 12, 32]) {
  size s0 in [2, 1048576] hint 8
  size s1 in [2, 4096] hint 128
  %0 = permute(x, order=[2, 0, 3, 1, 4]) : f32[3, s0, 12, s1, 32] strides (384, 1152*s1, 32, 1152, 1)
  %1 = select(%0, axis=0, index=0) : f32[s0, 12, s1, 32] strides (1152*s1, 32, 1152, 1)
  %2 = select(%0, axis=0, index=1) : f32[s0, 12, s1, 32] strides (1152*s1, 32, 1152, 1)
  %3 = transpose(%2, axis0=-1, axis1=-2) : f32[s0, 12, 32, s1] strides (1152*s1, 32, 1, 1152)
  %4 = matmul_fused(%1, %3) : f32[s0, 12, s1, s1]
  return %4
}
)";

// The views of the only product of a program.
const loop::LibraryCall& product_of(const loop::Program& p) {
  const loop::LibraryCall* found = nullptr;
  for (const loop::Item& item : p.items)
    if (const auto* call = std::get_if<loop::LibraryCall>(&item)) found = call;
  return *found;
}

loop::Program lowered(const graph::Graph& g) { return passes::lower(run_passes(g, {}), {}); }

bool is_run(const loop::View& v) { return v.strides[0] == v.sizes[1] * v.strides[1]; }

TEST(NullBatches, HeadsBesideBatchesBecomeOneRun) {
  const loop::Program p = lowered(null_graph(kAttention));
  const loop::LibraryCall& call = product_of(p);
  EXPECT_TRUE(is_run(call.a));
  EXPECT_TRUE(is_run(call.b));
  EXPECT_TRUE(call.b.strides[2].is_constant(1)) << "keys stay column-major";
}

TEST(NullBatches, TheCpuReadsThemWhereTheyAre) {
  const loop::Program p = lowered(graph_of(kAttention));
  EXPECT_EQ(p.items.size(), 1u);
}

TEST(NullBatches, RunsAndBroadcastOperandsStay) {
  const auto items = [](const std::string& text) { return lowered(null_graph(text)).items.size(); };
  EXPECT_EQ(items(R"(
graph @run(x: f32[s0, 12, 16, 32], y: f32[s0, 12, 32, 16]) {
  size s0 in [2, 1048576] hint 8
  %0 = matmul_fused(x, y) : f32[s0, 12, 16, 16]
  return %0
}
)"),
            1u);
  EXPECT_EQ(items(R"(
graph @broadcast(x: f32[s0, 12, 16, 32], y: f32[12, 32, 16]) {
  size s0 in [2, 1048576] hint 8
  %0 = matmul_fused(x, y) : f32[s0, 12, 16, 16]
  return %0
}
)"),
            1u);
}

TEST(NullBatches, OneCallAndItsCopies) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(kAttention), {}, session());
  EXPECT_EQ(artifact->library_calls.size(), 1u);
  EXPECT_EQ(artifact->kernels.size(), 2u) << "queries and keys";
}

}  // namespace
}  // namespace stax::compiler::test
