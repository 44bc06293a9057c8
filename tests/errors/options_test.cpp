// Unknown options and values list the valid ones.
#include "message.h"

namespace stax::test {
namespace {

std::string tool_error(std::vector<std::string> argv, std::vector<std::pair<std::string, std::string>> env = {}) {
  const base::ProcessResult r = run_tool(std::move(argv), std::move(env));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.out, "");
  return r.err;
}

TEST(Options, UnknownOption) {
  EXPECT_EQ(tool_error({"stax", "run", "--inptu", "x"}),
            "stax run: unknown option '--inptu'. Valid options: --help, GRAPH, --input, --dim, --scalar, --output\n");
}

TEST(Options, UnknownCommand) {
  EXPECT_EQ(tool_error({"stax", "frob"}),
            "stax: unknown command 'frob'. Valid commands: run, explain, cache, doctor, ops\n");
  EXPECT_EQ(tool_error({"stax"}), "stax: give a command: run, explain, cache, doctor, ops\n");
}

TEST(Options, UnknownValue) {
  EXPECT_EQ(tool_error({"stax-opt", "x.stax", "--run", "gpu"}), "stax-opt: --run: gpu not in {reference,loops,cpu}\n");
}

TEST(Options, UnknownOperator) {
  EXPECT_EQ(tool_error({"stax", "ops", "softmx"}), "stax: unknown operator 'softmx'. Did you mean: softmax?\n");
}

TEST(Options, UnknownPass) {
  const base::TempDir work("stax-errors");
  const std::string path = (work.path() / "x.stax").string();
  base::write_file_atomic(path, "graph @f(x: f32[2]) {\n  return x\n}\n");
  EXPECT_EQ(tool_error({"stax-opt", path, "--pass", "fold"}),
            "stax-opt: --pass: there is no pass 'fold'. Valid names: all, fuse-matmul-epilogues, "
            "split-matmul-epilogues, fold-batches, decompose, fold-constants, clean-up, cse, dce\n");
}

TEST(Options, StageThatDoesNotTakeTheText) {
  const base::TempDir work("stax-errors");
  const std::string path = (work.path() / "x.stax").string();
  base::write_file_atomic(path, "graph @f(x: f32[2]) {\n  return x\n}\n");
  EXPECT_EQ(tool_error({"stax-opt", path, "--fuse"}),
            "stax-opt: --fuse: " + path + " is a graph, not a loop program. Add --pass all --lower\n");
}

TEST(Options, EnvironmentValue) {
  const ScopedVariable variable("STAX_DYNAMIC", "maybe");
  EXPECT_EQ(message_of([] { compile([](Tensor x) { return x + 1; }); }),
            "environment variable STAX_DYNAMIC: 'maybe' is not valid. Valid values: no, yes, automatic");
}

TEST(Options, EnvironmentValueOfATool) {
  EXPECT_EQ(
      tool_error({"stax", "cache"}, {{"STAX_MAX_ARTIFACTS", "0"}}),
      "stax: environment variable STAX_MAX_ARTIFACTS: '0' is not valid. Valid values: an integer from 1 to 1000000\n");
}

TEST(Options, DoctorListsFaultsOfTheEnvironment) {
  const base::ProcessResult r = run_tool({"stax", "doctor"}, {{"STAX_LOG", "loud"}, {"STAX_NONSENSE", "1"}});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(
      r.out.find("FAULT variable   environment variable STAX_LOG: 'loud' is not valid. Valid values: trace, debug, "
                 "info, warn, error, off\n"),
      std::string::npos)
      << r.out;
  EXPECT_NE(r.out.find("FAULT variable   STAX_NONSENSE is not known to Stax. Unset it\n"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace stax::test
