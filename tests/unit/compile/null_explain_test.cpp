// Reports of GPU kernels: launch and what the compiled kernel takes.
#include "fake_worker.h"
#include "null_device.h"

namespace stax::compiler::test {
namespace {

const std::string kSums = R"(
graph @sums(x: f32[s0, 4096], y: f32[s1, 4096]) {
  size s0 in [2, 281474976710655] hint 1000
  size s1 in [2, 281474976710655] hint 999
  %0 = sum(x, axes=[-1]) : f32[s0]
  %1 = sum(y, axes=[-1]) : f32[s1]
  return %0, %1
}
)";

// Blocks of a text that begin with "kernel ".
std::vector<std::string> kernels_of(const std::string& text) {
  std::vector<std::string> blocks;
  for (std::size_t at = text.find("\nkernel "); at != std::string::npos; at = text.find("\nkernel ", at + 1))
    blocks.push_back(text.substr(at + 1, text.find("\n}\n", at) - at));
  return blocks;
}

TEST(NullExplain, EveryKernelHasItsLaunchAndResources) {
  STAX_NEED_TRITON();
  const auto artifact = compile_graph(null_graph(kSums), {}, session());
  const std::vector<std::string> blocks = kernels_of(explain(*artifact));
  ASSERT_EQ(blocks.size(), 2U);
  const std::regex launch(
      R"(\n  launch: grid s0 = 1000 at the hints, 128 threads \(4 warps\) a program(, \w+ \d+)+\n)");
  const std::regex compiled(
      R"(\n  compiled: [1-9]\d* registers a thread, [1-9]\d* bytes of shared memory a program, spills 0 bytes, stack 0 bytes\n)");
  EXPECT_TRUE(std::regex_search(blocks[0], launch) && std::regex_search(blocks[0], compiled)) << blocks[0];
  // The second has the code of the first.
  ASSERT_TRUE(artifact->kernels.at(1).shared);
  EXPECT_NE(blocks[1].find("launch: grid s1 = 999 at the hints"), std::string::npos) << blocks[1];
  EXPECT_TRUE(std::regex_search(blocks[1], compiled)) << blocks[1];
}

TEST(NullExplain, ResourcesComeFromTheCacheToo) {
  STAX_NEED_TRITON();
  const base::TempDir directory("stax-explain");
  const std::string path = directory.path().string();
  const auto first = compile_graph(null_graph(kSums), {}, Session::of(path));
  const auto warm = compile_graph(null_graph(kSums), {}, Session::of(path));         // loaded
  const auto disk = compile_graph(null_graph(kSums), {}, Session::of(path + "/."));  // read
  EXPECT_EQ(disk->kernels_built, 0U);
  EXPECT_EQ(kernels_of(explain(*warm)), kernels_of(explain(*first)));
  EXPECT_EQ(kernels_of(explain(*disk)), kernels_of(explain(*first)));
}

TEST(NullExplain, SpillsAreTold) {
  (void)session();
  const base::TempDir directory("stax-explain");
  const std::string python = (directory.path() / "python").string();
  base::write_file_atomic(
      python, stax::test::fake_interpreter("    good(job, shared=4096, registers=255, spills=48, stack=64)\n"), 0700);
  const std::string before = std::getenv("STAX_PYTHON");
  ::setenv("STAX_PYTHON", python.c_str(), 1);
  const auto artifact = compile_graph(null_graph(kSums), {}, Session::of((directory.path() / "cache").string()));
  ::setenv("STAX_PYTHON", before.c_str(), 1);
  EXPECT_NE(explain(*artifact).find("compiled: 255 registers a thread, 4096 bytes of shared memory a program, spills "
                                    "48 bytes, stack 64 bytes\n"),
            std::string::npos)
      << explain(*artifact);
}

TEST(NullExplain, KernelsOfTheCpuHaveNone) {
  const auto artifact = compile_graph(graph_of(kSums), {}, session());
  EXPECT_EQ(explain(*artifact).find("launch: "), std::string::npos);
  EXPECT_FALSE(artifact->kernels.at(0).gpu);
}

}  // namespace
}  // namespace stax::compiler::test
