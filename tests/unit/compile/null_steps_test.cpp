// Steps of plans on the null device: empty grids, written inputs, what a call costs the host.
#include <iostream>

#include "null_device.h"
#include "plan/text.h"
#include "runtime/timing.h"

namespace stax::compiler::test {
namespace {

const std::string kLayers = R"(
graph @layers(x: bf16[64, 256], a: bf16[256, 256], b: bf16[256, 256], c: bf16[256, 256]) {
  %0 = tanh(x) : bf16[64, 256]
  %1 = matmul_fused(%0, a) : bf16[64, 256]
  %2 = tanh(%1) : bf16[64, 256]
  %3 = matmul_fused(%2, b) : bf16[64, 256]
  %4 = tanh(%3) : bf16[64, 256]
  %5 = matmul_fused(%4, c) : bf16[64, 256]
  return %5
}
)";

Call layers() {
  return Call({null_tensor({64, 256}, Dtype::bf16), null_tensor({256, 256}, Dtype::bf16),
               null_tensor({256, 256}, Dtype::bf16), null_tensor({256, 256}, Dtype::bf16)});
}

TEST(NullSteps, HostTimeOfThreeKernelsAndThreeProducts) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(kLayers), {}, session());
  EXPECT_EQ(artifact->kernels.size() + artifact->library_calls.size(), 6U) << explain(*artifact);
  const Call call = layers();
  std::vector<Array> outputs(1);
  const plan::CallArgs args = call.args();
  const runtime::Timing t = runtime::measure(
      [&] {
        if (!artifact->executable.check(args)) std::abort();
        artifact->executable.run(args, outputs);
      },
      100);
  std::cout << fmt::format("{:.2f} us a call (least {:.2f})\n", t.median_us, t.min_us);
  EXPECT_LT(t.min_us, 30) << "an order above what is expected";
}

TEST(NullSteps, EmptyGridsAreNotLaunched) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(R"(
graph @rows(x: f32[s0, 64]) {
  size s0 in [0, 281474976710655] hint 1000
  %0 = exp(x) : f32[s0, 64]
  return %0
}
)"),
                                      {}, session());
  const std::uint64_t before = runtime::null_counts().launches;
  (void)run(*artifact, Call({null_tensor({0, 64})}));
  EXPECT_EQ(runtime::null_counts().launches, before);
  (void)run(*artifact, Call({null_tensor({3, 64})}));
  EXPECT_EQ(runtime::null_counts().launches, before + 1);
}

TEST(NullSteps, WrittenInputsAreCopiedBack) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(R"(
graph @update(x: f32[16, 64], y: f32[16, 64]) {
  %0 = add(x, y) : f32[16, 64]
  write x = %0
  return written x
}
)"),
                                      {}, session());
  const Call call({null_tensor({16, 64}), null_tensor({16, 64})});
  const std::uint64_t version = call.tensors[0].storage()->version();
  const std::vector<Array> out = run(*artifact, call);
  EXPECT_EQ(out.at(0).storage(), call.tensors[0].storage());
  EXPECT_GT(call.tensors[0].storage()->version(), version);
}

TEST(NullSteps, KernelsThatCanFailTakeAnErrorWord) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(R"(
graph @divide(x: i32[64], y: i32[64]) {
  %0 = floor_divide(x, y) : i32[64] at "main.cpp":7
  return %0
}
)"),
                                      {}, session());
  const plan::Plan& p = artifact->executable.plan();
  EXPECT_TRUE(p.kernels.at(0).reports);
  const std::string text = plan::to_text(p);
  EXPECT_NE(text.find("module 0 reports"), std::string::npos) << text;
  (void)run(*artifact, Call({null_tensor({64}, Dtype::i32), null_tensor({64}, Dtype::i32)}));
}

TEST(NullSteps, DevicesAreNotMixed) {
  std::string message;
  try {
    (void)compile_graph(graph_of("graph @mixed(x: f32[4] device \"null\", y: f32[4]) {\n  return x, y\n}\n"), {},
                        session());
  } catch (const UserError& e) {
    message = e.what();
  }
  EXPECT_EQ(message, "mixed: y is on cpu, an earlier tensor on null. Move it with .to(device)");
}

// One dimension of 2^31 - 1 programs; what asks for more was compiled for far smaller sizes.
TEST(NullSteps, MoreProgramsThanALaunchCanHave) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(R"(
graph @rows(x: i8[s0, 16]) {
  size s0 in [2, 281474976710655] hint 4
  %0 = sum(x, axes=[-1]) : i64[s0] at "main.cpp":7
  return %0
}
)"),
                                      {}, session());
  (void)run(*artifact, Call({null_tensor({2000000000, 16}, Dtype::i8)}));
  try {
    (void)run(*artifact, Call({null_tensor({3000000000, 16}, Dtype::i8)}));
    FAIL() << explain(*artifact);
  } catch (const DeviceError& e) {
    const std::string text = e.what();
    EXPECT_TRUE(text.starts_with("3000000000 programs are more than a launch can have (2147483647): ")) << text;
    EXPECT_NE(text.find(" of rows at main.cpp:7)"), std::string::npos) << text;
  }
}

TEST(NullSteps, BlocksOfSizesWithoutABoundServeMany) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(R"(
graph @few(x: i8[s0, s1]) {
  size s0 in [2, 281474976710655] hint 2
  size s1 in [2, 281474976710655] hint 3
  %0 = neg(x) : i8[s0, s1]
  return %0
}
)"),
                                      {}, session());
  EXPECT_EQ(missed(*artifact, Call({null_tensor({100000, 1300000}, Dtype::i8)})), "");
  (void)run(*artifact, Call({null_tensor({100000, 1300000}, Dtype::i8)}));  // 130 GB
}

}  // namespace
}  // namespace stax::compiler::test
