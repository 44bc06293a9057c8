// A process that is killed during a build leaves its folder; the next one removes it.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "message.h"

namespace stax::test {
namespace {

namespace fs = std::filesystem;

std::size_t folders(const fs::path& root) {
  std::size_t n = 0;
  for (const auto& entry : fs::directory_iterator(root))
    n += entry.path().filename().string().starts_with("stax-build-");
  return n;
}

// Waits up to ten seconds.
template <typename F>
bool becomes_true(F&& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(KilledBuild, LeavesNothingBehindTheNextProcess) {
  const base::TempDir dir("stax-errors");
  const fs::path root = dir.path() / "tmp", pid_file = dir.path() / "pid";
  fs::create_directory(root);
  const std::string graph = (dir.path() / "g.stax").string(), slow = (dir.path() / "g++").string();
  base::write_file_atomic(graph, "graph @g(x: f32[8]) {\n  %0 = exp(x) : f32[8]\n  return %0\n}\n");
  base::write_file_atomic(slow, "#!/bin/sh\necho $$ > " + pid_file.string() + "\nexec sleep 60\n", 0700);
  const std::vector<std::pair<std::string, std::string>> environment{
      {"TMPDIR", root.string()}, {"STAX_CACHE_DIR", (dir.path() / "cache").string()}};

  const std::string program = STAX_TOOLS_DIR "/stax";
  const pid_t child = ::fork();
  if (child == 0) {
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::setenv("STAX_CXX", slow.c_str(), 1);
    ::execl(program.c_str(), "stax", "explain", graph.c_str(), nullptr);
    ::_exit(127);
  }
  ASSERT_TRUE(becomes_true([&] { return fs::exists(pid_file) && fs::file_size(pid_file) > 1; }));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  ::kill(std::stoi(base::read_file(pid_file)), SIGKILL);  // the compiler outlives it
  EXPECT_EQ(folders(root), 1U);

  const base::ProcessResult next = run_tool({"stax", "explain", graph}, environment);
  EXPECT_TRUE(next.ok()) << next.err;
  EXPECT_EQ(folders(root), 0U);
}

}  // namespace
}  // namespace stax::test
