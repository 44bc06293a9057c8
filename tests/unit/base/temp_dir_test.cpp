// Temporary directories of processes that were killed are removed by the next process; those in use are not.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/file.h"

namespace stax::base {
namespace {

namespace fs = std::filesystem;

// A root of its own for the directories of one test.
class TempDirs : public testing::Test {
 protected:
  TempDirs() : root_("stax-test") {
    if (const char* known = std::getenv("TMPDIR")) before_ = known;
    ::setenv("TMPDIR", root_.path().c_str(), 1);
  }
  ~TempDirs() override {
    if (before_.empty())
      ::unsetenv("TMPDIR");
    else
      ::setenv("TMPDIR", before_.c_str(), 1);
  }
  // A process with a directory that holds a file, still running.
  pid_t start(std::string_view prefix) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const TempDir dir(prefix);
      write_file_atomic(dir.path() / "kernel.cpp", "int x;");
      (void)!::write(ready[1], "x", 1);
      ::pause();
      ::_exit(0);
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    return child;
  }
  static void kill(pid_t child) {
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
  }
  std::size_t count(std::string_view prefix) const {
    std::size_t n = 0;
    for (const auto& entry : fs::directory_iterator(root_.path()))
      n += entry.path().filename().string().starts_with(prefix);
    return n;
  }
  TempDir root_;
  std::string before_;
};

TEST_F(TempDirs, OfAKilledProcessIsRemovedByTheNext) {
  kill(start("dead"));
  ASSERT_EQ(count("dead"), 1U);
  { const TempDir next("dead"); }
  EXPECT_EQ(count("dead"), 0U);
}

TEST_F(TempDirs, InUseStays) {
  const pid_t child = start("live");
  const TempDir next("live");
  EXPECT_EQ(count("live"), 2U);
  kill(child);
}

TEST_F(TempDirs, OtherNamesStay) {
  for (const char* name : {"other-12x-abcdef", "other-1-abcde", "other-1-abcdefg", "otherly-1-abcdef", "other-abcdef"})
    fs::create_directory(root_.path() / name);
  write_file_atomic(root_.path() / "other-1-abcdef", "a file");
  fs::create_directory_symlink(root_.path() / "other-abcdef", root_.path() / "other-2-abcdef");
  { const TempDir next("other"); }
  EXPECT_EQ(count("other"), 7U);
}

TEST_F(TempDirs, ManyProcessesAtOnceKeepTheirs) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int k = 0; k < 50; ++k) {
        const TempDir dir("many" + std::to_string(k % 5));
        write_file_atomic(dir.path() / "x", "y");
        std::this_thread::yield();
        if (!fs::exists(dir.path() / "x")) ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(count("many"), 0U);
}

}  // namespace
}  // namespace stax::base
