#include "message.h"

namespace stax::test {
namespace {

TEST(Limits, MaxArtifactsUnderFullgraph) {
  const auto f = compile([](Tensor x) { return x * 2 + 1; }, {.fullgraph = true, .max_artifacts = 2});
  f(ones({3}));
  f(ones({4}));
  EXPECT_EQ(
      message_of([&] { f(ones({5})); }),
      "compile: 2 artifacts exist for this structure of arguments: the limit max_artifacts = 2 is reached. Raise the "
      "limit, use Dynamic::yes, or leave out fullgraph to run such calls uncompiled");
}

TEST(Limits, MaxArtifactsOtherwiseRunsUncompiledAndRight) {
  const auto f = compile([](Tensor x) { return x * 2 + 1; }, {.max_artifacts = 1});
  f(ones({3}));
  EXPECT_EQ(f(ones({2})).to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_EQ(f.stats().fallbacks, 1U);
  EXPECT_EQ(f.artifacts().size(), 1U);
}

TEST(Limits, MaxCompilesUnderFullgraph) {
  const auto f = compile([](Tensor x) { return x * 2 + 1; }, {.fullgraph = true, .max_compiles = 1});
  f(ones({3}));
  EXPECT_EQ(
      message_of([&] { f(ones({5})); }),
      "compile: 1 compiles were made: the limit max_compiles = 1 is reached. Raise the limit, use Dynamic::yes, or "
      "leave out fullgraph to run such calls uncompiled");
}

}  // namespace
}  // namespace stax::test
