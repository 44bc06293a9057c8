// stax-opt for a GPU: stage by stage from a graph to Triton text and a plan, each text read back.
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/subprocess.h"

namespace stax::golden {
namespace {

std::string opt(std::vector<std::string> argv) {
  argv.insert(argv.begin(), STAX_TOOLS_DIR "/stax-opt");
  base::ProcessOptions options;
  options.argv = std::move(argv);
  const base::ProcessResult r = base::run_process(options);
  EXPECT_TRUE(r.ok()) << r.err;
  return r.out;
}

TEST(GpuText, StagesOfAGraph) {
  const base::TempDir work("stax-gpu-text");
  const std::string graph = (work.path() / "graph.stax").string(), scheduled = (work.path() / "loops.stax").string();
  base::write_file_atomic(graph,
                          "graph @rows(x: f32[s0, 4096]) {\n  size s0 in [2, 1000000] hint 512\n"
                          "  %0 = mul(x, x) : f32[s0, 4096]\n  %1 = sum(%0, axes=[-1]) : f32[s0]\n  return %1\n}\n");
  const std::string text = opt({graph, "--target", "gpu", "--pass", "all", "--lower", "--split", "132", "--fuse",
                                "--normalise", "--schedule", "--verify"});
  const std::size_t at = text.find("for red_mul_sum schedule triton { x i");
  ASSERT_NE(at, std::string::npos) << text;
  base::write_file_atomic(scheduled, text);
  EXPECT_NE(opt({scheduled, "--emit", "triton"}).find("def red_mul_sum(b0, b1, n0, XBLOCK"), std::string::npos);
  base::ProcessOptions on_cpu;
  on_cpu.argv = {STAX_TOOLS_DIR "/stax-opt", scheduled, "--run", "cpu"};
  EXPECT_NE(base::run_process(on_cpu).err.find("kernel red_mul_sum: its schedule is for another target. Leave"),
            std::string::npos);
  const std::string plan = opt({scheduled, "--target", "gpu", "--plan"});
  EXPECT_NE(plan.find("buffer b0 f32 null input b0"), std::string::npos) << plan;
  EXPECT_NE(plan.find("grid ("), std::string::npos) << plan;
}

}  // namespace
}  // namespace stax::golden
