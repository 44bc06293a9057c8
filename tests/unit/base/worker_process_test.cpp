#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/subprocess.h"

namespace stax::base {
using namespace std::chrono_literals;
using Status = WorkerProcess::Status;

namespace {
ProcessOptions script(const std::string& text) { return {.argv = {"sh", "-c", text}}; }
}  // namespace

TEST(WorkerProcess, EchoesMessagesOfAnySize) {
  WorkerProcess worker(script("exec cat <&3 >&3"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{100000}}) {
    const std::string sent(size, 'm');
    std::string got;
    ASSERT_EQ(worker.send(sent, 5s), Status::ok);
    ASSERT_EQ(worker.receive(got, 5s), Status::ok);
    EXPECT_EQ(got, sent);
  }
  EXPECT_TRUE(worker.running());
}

TEST(WorkerProcess, ASilentChildTimesOut) {
  WorkerProcess worker(script("sleep 60"));
  const Stopwatch watch;
  std::string got;
  EXPECT_EQ(worker.receive(got, 50ms), Status::timed_out);
  EXPECT_LT(watch.seconds(), 5);
}

TEST(WorkerProcess, ADeadChildIsClosedAndNoSignalArrives) {
  WorkerProcess worker(script("echo last words >&2"));
  std::string got;
  EXPECT_EQ(worker.receive(got, 5s), Status::closed);
  EXPECT_EQ(worker.send(std::string(1 << 20, 'x'), 5s), Status::closed);
  for (int i = 0; i < 200 && worker.running(); ++i) ::usleep(10000);
  EXPECT_FALSE(worker.running());
  EXPECT_EQ(worker.log(), "last words\n");
}

TEST(WorkerProcess, AnImplausibleLengthIsGarbage) {
  WorkerProcess worker(script("printf '\\377\\377\\377\\177junk' >&3; sleep 60"));
  std::string got;
  EXPECT_EQ(worker.receive(got, 5s, 1 << 20), Status::garbage);
}

TEST(WorkerProcess, AMessageCutShortIsClosed) {
  WorkerProcess worker(script("printf '\\010\\000\\000\\000half' >&3"));
  std::string got;
  EXPECT_EQ(worker.receive(got, 5s), Status::closed);
}

TEST(WorkerProcess, DestructionKillsTheChild) {
  pid_t pid;
  {
    WorkerProcess worker(script("sleep 60"));
    pid = worker.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

}  // namespace stax::base
