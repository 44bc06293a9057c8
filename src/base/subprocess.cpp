#include "base/subprocess.h"

#include <fmt/format.h>
#include <signal.h>
#include <stax/base/error.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/clock.h"
#include "base/spawn.h"

namespace stax::base {

std::optional<std::string> find_program(const std::string& name) {
  const auto executable = [](const std::string& path) {
    std::error_code error;
    return ::access(path.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(path, error);
  };
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos) return executable(name) ? std::optional(name) : std::nullopt;
  const char* variable = std::getenv("PATH");
  std::string_view path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const std::size_t end = std::min(path.find(':'), path.size());
    std::string candidate = std::string(end == 0 ? "." : path.substr(0, end)) + "/" + name;
    if (executable(candidate)) return candidate;
    if (end == path.size()) return std::nullopt;
    path.remove_prefix(end + 1);
  }
}

std::string ProcessResult::describe() const {
  if (timed_out) return fmt::format("timed out after {:.1f} s", seconds);
  if (signal != 0) return fmt::format("signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("exit status {}", exit_code);
}

namespace {

// Waits for the child until the deadline; false when the time is over.
bool wait_for_exit(pid_t pid, double timeout, int& status) {
  const Stopwatch watch;
  if (timeout <= 0) {
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return true;
  }
  auto pause = std::chrono::microseconds(100);
  while (true) {
    const pid_t done = ::waitpid(pid, &status, WNOHANG);
    if (done == pid) return true;
    if (watch.seconds() > timeout) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(1000));
  }
}

std::string content_of(const Fd& memory) {
  ::lseek(memory.get(), 0, SEEK_SET);
  return read_all(memory.get());
}

}  // namespace

ProcessResult run_process(const ProcessOptions& options) {
  // Streams are files in memory: no pipe can fill up, and a grandchild that keeps one open delays nobody.
  const Fd in = memory_file("stdin"), out = memory_file("stdout"), err = memory_file("stderr");
  write_all(in.get(), options.input, "standard input");
  ::lseek(in.get(), 0, SEEK_SET);
  const Stopwatch watch;
  const pid_t pid = spawn(options, {{in.get(), 0}, {out.get(), 1}, {err.get(), 2}});
  ProcessResult result;
  int status = 0;
  if (!wait_for_exit(pid, std::chrono::duration<double>(options.timeout).count(), status)) {
    result.timed_out = true;
    ::kill(-pid, SIGKILL);
    wait_for_exit(pid, 0, status);
  }
  result.seconds = watch.seconds();
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.out = content_of(out);
  result.err = content_of(err);
  return result;
}

}  // namespace stax::base
