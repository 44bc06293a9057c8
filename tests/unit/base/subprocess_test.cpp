#include "base/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "message.h"

namespace stax::base {
using namespace std::chrono_literals;

namespace {
ProcessResult shell(const std::string& script, std::chrono::milliseconds timeout = 0ms) {
  return run_process({.argv = {"sh", "-c", script}, .timeout = timeout});
}
}  // namespace

TEST(RunProcess, CapturesOutputAndStatus) {
  const auto result = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.describe(), "exit status 3");
}

TEST(RunProcess, ReportsTheSignal) {
  const auto result = shell("kill -SEGV $$");
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(result.exit_code, -1);
  EXPECT_EQ(result.describe(), "signal 11 (Segmentation fault)");
}

TEST(RunProcess, PassesInput) {
  const std::string big(1 << 20, 'x');
  EXPECT_EQ(run_process({.argv = {"cat"}, .input = big}).out, big);
}

TEST(RunProcess, ChangesTheEnvironment) {
  ::setenv("STAX_TEST_REMOVED", "1", 1);
  const auto result = run_process({.argv = {"sh", "-c", "echo ${STAX_TEST_REMOVED-none} $ADDED"},
                                   .set_env = {{"ADDED", "yes"}},
                                   .unset_env = {"STAX_TEST_REMOVED"}});
  ::unsetenv("STAX_TEST_REMOVED");
  EXPECT_EQ(result.out, "none yes\n");
}

TEST(RunProcess, ClearsTheEnvironment) {
  const auto result = run_process({.argv = {"/usr/bin/env"}, .set_env = {{"ONLY", "this"}}, .clear_env = true});
  EXPECT_EQ(result.out, "ONLY=this\n");
}

TEST(RunProcess, RunsInADirectory) {
  const TempDir dir;
  EXPECT_EQ(run_process({.argv = {"pwd"}, .directory = dir.path()}).out, dir.path().string() + "\n");
}

TEST(RunProcess, ATimeoutKillsTheWholeGroup) {
  const TempDir dir;
  const Stopwatch watch;
  const auto result = shell("(sleep 0.5; touch '" + (dir.path() / "survivor").string() + "') & sleep 60", 100ms);
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(watch.seconds(), 10);
  EXPECT_EQ(result.describe().substr(0, 15), "timed out after");
  ::usleep(700000);
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "survivor"));
}

TEST(RunProcess, AGrandchildThatKeepsTheStreamsDelaysNobody) {
  const Stopwatch watch;
  EXPECT_EQ(shell("sleep 5 & echo done").out, "done\n");
  EXPECT_LT(watch.seconds(), 4);
}

TEST(RunProcess, SaysThatTheProgramIsMissing) {
  EXPECT_EQ(message_of([] { run_process({.argv = {"stax-no-such-program"}}); }),
            "cannot start 'stax-no-such-program': No such file or directory");
}

TEST(FindProgram, LooksInThePath) {
  EXPECT_TRUE(find_program("sh"));
  EXPECT_FALSE(find_program("stax-no-such-program"));
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_FALSE(find_program("/tmp"));
}

}  // namespace stax::base
