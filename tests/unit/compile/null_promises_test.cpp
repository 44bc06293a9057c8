// What kernels count on is guarded: 16-byte addresses, rows of whole vectors, rows that fit in registers.
#include "null_device.h"
#include "plan/text.h"

namespace stax::compiler::test {
namespace {

std::string softmax(std::int64_t rows, std::int64_t length, Dtype dtype = Dtype::f32) {
  return fmt::format(R"(
graph @softmax(x: {2}[s0, s1]) {{
  size s0 in [2, 281474976710655] hint {0}
  size s1 in [2, 281474976710655] hint {1}
  %0 = softmax(x, axis=-1) : {2}[s0, s1]
  return %0
}}
)",
                     rows, length, to_text(dtype));
}

std::vector<std::string> promises_of(const Artifact& a) {
  std::vector<std::string> texts;
  for (const plan::Guard& g : a.executable.plan().guards)
    if (g.promise) texts.push_back(plan::to_text(g, a.executable.plan()) + " because " + g.reason);
  return texts;
}

TEST(NullPromises, RowsInRegistersAndWideAccesses) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(softmax(256, 4096)), {}, session());
  EXPECT_EQ(promises_of(*artifact),
            (std::vector<std::string>{
                "aligned x 16 because 16-byte accesses were chosen because its address was a multiple of 16",
                "where floormod(s1, 4) == 0 because 16-byte accesses were chosen because s1 = 4096 is a multiple of 4",
                "where s1 <= 4096 because a row in registers was chosen because s1 = 4096 is at most 4096"}));
  EXPECT_EQ(missed(*artifact, Call({null_tensor({256, 4096})})), "");
  EXPECT_EQ(missed(*artifact, Call({null_tensor({999, 2048})})), "");
  EXPECT_EQ(
      missed(*artifact, Call({null_tensor({256, 4000 - 1})})),
      "floormod(s1, 4) == 0 failed: s1 is 3999 (16-byte accesses were chosen because s1 = 4096 is a multiple of 4)");
  EXPECT_EQ(missed(*artifact, Call({null_tensor({256, 8192})})),
            "s1 <= 4096 failed: s1 is 8192 (a row in registers was chosen because s1 = 4096 is at most 4096)");
  EXPECT_EQ(missed(*artifact, Call({null_tensor({256, 4096}, Dtype::f32, 1)})).substr(0, 19), "aligned x 16 failed");
}

// Eight halves are a vector: rows of 1000 are whole ones.
TEST(NullPromises, OfHalves) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(softmax(256, 1000, Dtype::bf16)), {}, session());
  EXPECT_EQ(promises_of(*artifact)[1],
            "where floormod(s1, 8) == 0 because 16-byte accesses were chosen because s1 = 1000 is a multiple of 8");
  EXPECT_EQ(missed(*artifact, Call({null_tensor({256, 1000}, Dtype::bf16)})), "");
  EXPECT_NE(missed(*artifact, Call({null_tensor({256, 996}, Dtype::bf16)})), "");
}

TEST(NullPromises, OddLengthsGetNone) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(softmax(256, 40001)), {}, session());
  EXPECT_EQ(promises_of(*artifact).size(), 1U) << explain(*artifact);  // the address
  EXPECT_EQ(missed(*artifact, Call({null_tensor({16, 1000})})), "");
}

TEST(NullPromises, WithoutPromisesEveryCallIsServed) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(softmax(256, 4096)), {.promises = false}, session());
  EXPECT_EQ(promises_of(*artifact), std::vector<std::string>{});
  EXPECT_EQ(missed(*artifact, Call({null_tensor({256, 77777}, Dtype::f32, 1)})), "");
}

TEST(NullPromises, AnInputThatIsNotAlignedIsNotPromisedToBe) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(softmax(256, 4096)), {}, session(), {.guards = {}, .unaligned = {0}});
  EXPECT_EQ(promises_of(*artifact).size(), 2U);
  EXPECT_EQ(missed(*artifact, Call({null_tensor({256, 4096}, Dtype::f32, 1)})), "");
}

TEST(NullPromises, LaunchesSayWhatTheyCountOn) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(softmax(256, 4096)), {}, session());
  const std::string text = plan::to_text(artifact->executable.plan());
  EXPECT_NE(text.find("promises (floormod(s1, 4) == 0, s1 <= 4096)"), std::string::npos) << text;
  plan::Plan unguarded = plan::parse_plan(text, std::make_shared<symbolic::Context>());
  std::erase_if(unguarded.guards, [](const plan::Guard& g) { return g.promise; });
  EXPECT_THROW(plan::verify(unguarded), InternalError);
}

std::vector<std::string> wishes_met(const Artifact& a, const Call& call) {
  return a.wishes ? a.wishes->texts_met_by(call.args()) : std::vector<std::string>{};
}
using Texts = std::vector<std::string>;

TEST(NullWishes, LengthsOfWholeVectors) {
  STAX_NEED_TRITON();
  const auto odd = compile_graph(null_graph(softmax(256, 1001)), {}, session());
  EXPECT_EQ(wishes_met(*odd, Call({null_tensor({256, 1001})})), Texts{});
  EXPECT_EQ(wishes_met(*odd, Call({null_tensor({256, 1002})})), Texts{});
  EXPECT_EQ(wishes_met(*odd, Call({null_tensor({4, 1000})})), Texts{});  // few elements
  EXPECT_EQ(wishes_met(*odd, Call({null_tensor({5, 1000})})).size(), 1U);
  EXPECT_NE(explain(*odd).find("other calls may get kernels that count on where floormod(s1, 4) == 0"),
            std::string::npos)
      << explain(*odd);
  const auto even = compile_graph(null_graph(softmax(256, 1024)), {}, session());
  EXPECT_FALSE(even->wishes) << explain(*even);
}

TEST(NullWishes, EachLengthIsOne) {
  STAX_NEED_TRITON();
  const auto a = compile_graph(null_graph(R"(
graph @both(x: f32[s0, s1], y: f32[s1, s0]) {
  size s0 in [2, 281474976710655] hint 1001
  size s1 in [2, 281474976710655] hint 999
  %0 = transpose(x, axis0=0, axis1=1) : f32[s1, s0] strides (1, s1)
  %1 = add(%0, y) : f32[s1, s0] strides (1, s1)
  return %1
}
)"),
                               {}, session());
  EXPECT_EQ(wishes_met(*a, Call({null_tensor({1000, 999}), null_tensor({999, 1000})})).size(), 1U) << explain(*a);
  EXPECT_EQ(wishes_met(*a, Call({null_tensor({1001, 1000}), null_tensor({1000, 1001})})).size(), 1U);
  EXPECT_EQ(wishes_met(*a, Call({null_tensor({1000, 1000}), null_tensor({1000, 1000})})).size(), 2U);
}

TEST(NullWishes, AlignedInputs) {
  STAX_NEED_TRITON();
  const auto a = compile_graph(null_graph(softmax(256, 1024)), {}, session(), {.guards = {}, .unaligned = {0}});
  EXPECT_EQ(wishes_met(*a, Call({null_tensor({256, 1024}, Dtype::f32, 1)})), Texts{});
  EXPECT_EQ(wishes_met(*a, Call({null_tensor({256, 1024})})), Texts{"aligned x 16"});
}

TEST(NullWishes, NoneWithoutPromisesNorOnTheCpu) {
  STAX_NEED_TRITON();
  const auto a =
      compile_graph(null_graph(softmax(256, 1001)), {.promises = false}, session(), {.guards = {}, .unaligned = {0}});
  EXPECT_FALSE(a->wishes);
  EXPECT_FALSE(compile_graph(graph_of(softmax(256, 1001)), {}, session())->wishes);
}

TEST(NullPromises, WithoutBoundsOfRows) {
  STAX_NEED_TRITON();
  const auto a = compile_graph(null_graph(softmax(256, 4096)), {.row_bounds = false}, session());
  EXPECT_EQ(missed(*a, Call({null_tensor({256, 77776})})), "");
  EXPECT_NE(missed(*a, Call({null_tensor({256, 77777})})), "");
}

}  // namespace
}  // namespace stax::compiler::test
