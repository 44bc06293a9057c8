// Graphs whose tensors lie on the null device go through every stage of a GPU up to the launch.
#include "null_device.h"
#include "plan/text.h"

namespace stax::compiler::test {
namespace {

const std::string kRows = R"(
graph @rows(x: f32[s0, s1], y: f32[s0, s1]) {
  size s0 in [2, 281474976710655] hint 1024
  size s1 in [2, 281474976710655] hint 4096
  %0 = add(x, y) : f32[s0, s1]
  %1 = relu(%0) : f32[s0, s1]
  %2 = sum(%1, axes=[-1], keepdim=false, dtype=none) : f32[s0]
  return %2
}
)";

TEST(NullCompile, RowSumsRunThroughTheWholePlan) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(kRows), {}, session());
  const std::string text = plan::to_text(artifact->executable.plan());
  SCOPED_TRACE(text + artifact->kernels.at(0).source + artifact->kernels.at(0).schedule);
  ASSERT_EQ(artifact->kernels.size(), 1U);
  if (std::getenv("STAX_TEST_SHOW"))
    std::puts(explain(*artifact).c_str()), std::puts(artifact->kernels[0].source.c_str());
  EXPECT_NE(text.find("buffer b0 f32 null input x"), std::string::npos);
  EXPECT_NE(text.find("grid ("), std::string::npos);
  const runtime::NullCounts before = runtime::null_counts();
  const std::vector<Array> out = run(*artifact, Call({null_tensor({1024, 4096}), null_tensor({1024, 4096})}));
  EXPECT_EQ(out.at(0).device(), kNull);
  EXPECT_EQ(out.at(0).sizes()[0], 1024);
  EXPECT_EQ(runtime::null_counts().launches - before.launches, 1U);
}

TEST(NullCompile, PlansReadBack) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(kRows), {}, session());
  const std::string text = plan::to_text(artifact->executable.plan());
  auto context = std::make_shared<symbolic::Context>();
  EXPECT_EQ(plan::to_text(plan::parse_plan(text, context)), text) << text;
}

}  // namespace
}  // namespace stax::compiler::test
