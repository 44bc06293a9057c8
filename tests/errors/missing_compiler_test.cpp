#include "message.h"

namespace stax::test {
namespace {

const std::string kProblem =
    "the C++ compiler '/nonexistent' does not exist or cannot be run. Install one (apt install g++) or name it in "
    "STAX_CXX";

TEST(MissingCompiler, UnderStrictNativeIsAnErrorThatSaysWhatToInstall) {
  const base::TempDir cache("stax-errors");
  const ScopedVariable compiler("STAX_CXX", "/nonexistent");
  const auto f =
      compile([](Tensor x) { return x * 2 + 1; }, {.strict_native = true, .cache_dir = cache.path().string()});
  EXPECT_EQ(message_of([&] { f(ones({3})); }), kProblem);
}

TEST(MissingCompiler, OtherwiseTheFunctionRunsUncompiledWithAWarning) {
  const base::TempDir cache("stax-errors");
  const ScopedVariable compiler("STAX_CXX", "/nonexistent");
  const auto f = compile([](Tensor x) { return x * 2 + 1; }, {.cache_dir = cache.path().string()});
  const base::LogCapture log;
  EXPECT_EQ(f(ones({3})).to_vector<float>(), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(f(ones({3})).to_vector<float>(), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(f.stats().fallbacks, 2U);
  EXPECT_EQ(log.text(),
            "[warn] " + kProblem + "; what needs it runs uncompiled, unless strict_native or fullgraph forbids it\n");
}

TEST(MissingCompiler, DoctorSaysSoAndFails) {
  const base::ProcessResult r = run_tool({"stax", "doctor"}, {{"STAX_CXX", "/nonexistent"}});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.out.find("FAULT compiler   " + kProblem + "\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("1 of the things that Stax needs is missing or wrong"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace stax::test
