// A fault of Stax during a compile hands the user a file and a command that reproduce it.
#include <algorithm>
#include <filesystem>
#include <regex>

#include "compile/pipeline.h"
#include "graph/interpret.h"
#include "message.h"

namespace stax::test {
namespace {

graph::Graph example() {
  const auto f = [](Tensor x) { return sum(relu(x) * 2, -1); };
  return graph::parse_graph(to_text(make_graph(f)(zeros({3, 5}))));
}

// The message of a compile in which the stage "fuse" fails.
std::string failing_compile(const graph::Graph& g) {
  const compiler::Observer fail = [](std::string_view stage, const auto&) {
    if (stage == "fuse") throw InternalError("injected fault");
  };
  try {
    compiler::compile_graph(g, {}, compiler::Session::of({}), {}, fail);
  } catch (const InternalError& e) {
    return e.what();
  }
  return "no error";
}

TEST(InternalErrors, NameAFileAndACommandThatReproduceThem) {
  const base::TempDir work("stax-errors");
  const ScopedVariable directory("STAX_DUMP_DIR", work.path().string());
  const graph::Graph g = example();
  const std::string message = failing_compile(g);
  std::smatch parts;
  ASSERT_TRUE(
      std::regex_match(message, parts,
                       std::regex("injected fault\nThis is a fault of Stax\\. The graph is in (.*); to reproduce: "
                                  "stax-opt (.*) --run cpu")))
      << message;
  EXPECT_EQ(parts[1], parts[2]);
  EXPECT_EQ(base::read_file(parts[1].str()), graph::to_text(g));
  const base::ProcessResult r = run_tool({"stax-opt", parts[2].str(), "--run", "cpu"});
  EXPECT_TRUE(r.ok()) << r.err;
  EXPECT_NE(r.out.find("out0: f32[3] = ["), std::string::npos) << r.out;
}

TEST(InternalErrors, ADumpHoldsEveryStage) {
  const base::TempDir work("stax-errors");
  const ScopedVariable directory("STAX_DUMP_DIR", work.path().string());
  compiler::compile_graph(example(), {}, compiler::Session::of({}));
  std::vector<std::string> stages;
  for (const auto& file : std::filesystem::recursive_directory_iterator(work.path()))
    if (file.is_regular_file()) stages.push_back(file.path().filename().string().substr(3));
  std::ranges::sort(stages);
  EXPECT_EQ(stages, (std::vector<std::string>{"clean-up.stax", "cse.stax", "dce.stax", "decompose.stax", "emit.cpp",
                                              "fold-batches.stax", "fold-constants.stax", "fuse-matmul-epilogues.stax",
                                              "fuse.stax", "graph.stax", "lower.stax", "normalise.stax", "passes.stax",
                                              "plan.stax", "split-matmul-epilogues.stax", "split.stax"}));
}

TEST(InternalErrors, ADirectoryThatCannotBeWrittenIsTheUsersError) {
  const ScopedVariable directory("STAX_DUMP_DIR", "/proc/stax");
  EXPECT_EQ(message_of([] {
              compiler::compile_graph(example(), {}, compiler::Session::of({}));
            }).find("STAX_DUMP_DIR: cannot make the directory '/proc/stax/fn-"),
            0U);
}

// A compiler that takes everything but pointwise kernels.
TEST(InternalErrors, ARefusedKernelNamesItsOperatorsAndTheirLines) {
  const base::TempDir work("stax-errors");
  const std::string compiler = (work.path() / "g++").string();
  base::write_file_atomic(
      compiler,
      "#!/bin/sh\nfor last; do case $last in *.cpp) if grep -q poi_ $last; then\n"
      "echo 'kernel.cpp:1:1: error: too much cheese' >&2; exit 1; fi;; esac; done\nexec g++ \"$@\"\n",
      0700);
  const ScopedVariable directory("STAX_DUMP_DIR", work.path().string()), cxx("STAX_CXX", compiler);
  const auto f = compile(
      [](Tensor x) {
        const Tensor y = x + 1;
        return sqrt(y);
      },
      {.cache_dir = (work.path() / "cache").string()});
  const std::string add = at(-4), root = at(-3);
  std::string message;
  try {
    (void)f(ones({8}));
  } catch (const InternalError& e) {
    message = e.what();
  }
  EXPECT_NE(message.find("error: too much cheese"), std::string::npos) << message;
  EXPECT_NE(message.find("\nThe kernel computes add" + add + ", sqrt" + root + "\nThis is a fault of Stax"),
            std::string::npos)
      << message;
  if (const std::size_t kept = message.find("kept in "); kept != std::string::npos)
    std::filesystem::remove_all(
        std::filesystem::path(message.substr(kept + 8, message.find('\n', kept) - kept - 8)).parent_path());
}

}  // namespace
}  // namespace stax::test
