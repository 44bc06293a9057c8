// Child processes: run to the end with captured output, or talk to over a socket.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"

namespace stax::base {

struct ProcessOptions {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH unless it contains '/'
  std::vector<std::pair<std::string, std::string>> set_env;
  std::vector<std::string> unset_env;
  bool clear_env = false;                // start from an empty environment
  std::string directory;                 // working directory; empty: the caller's
  std::string input;                     // standard input
  std::chrono::milliseconds timeout{0};  // 0: none
};

struct ProcessResult {
  int exit_code = -1;  // -1 when ended by a signal
  int signal = 0;
  bool timed_out = false;
  std::string out, err;
  double seconds = 0;
  bool ok() const { return exit_code == 0; }
  // "exit status 1", "signal 11 (Segmentation fault)", "timed out after 2.0 s"
  std::string describe() const;
};

// Runs the program and waits. On a timeout the whole process group is killed. UserError when the program cannot be
// started.
ProcessResult run_process(const ProcessOptions& options);

// Full path of a program: `name` itself when it contains '/', else the first match in PATH. Empty when there is none.
std::optional<std::string> find_program(const std::string& name);

// A long-lived worker. The child reads and writes length-prefixed messages (32-bit little-endian length, then the
// bytes) on descriptor 3; its standard output and error go to a log in memory. Not thread-safe.
class WorkerProcess {
 public:
  static constexpr int kChildDescriptor = 3;
  // `input` and `timeout` of the options are not used.
  explicit WorkerProcess(const ProcessOptions& options);
  ~WorkerProcess();  // kills the process group and reaps the child
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  enum class Status { ok, closed, timed_out, garbage };
  // closed: the child went away. A message larger than `max_bytes` is garbage. timeout 0: no limit.
  Status send(std::string_view message, std::chrono::milliseconds timeout = {});
  Status receive(std::string& message, std::chrono::milliseconds timeout = {},
                 std::size_t max_bytes = std::size_t{1} << 30);

  bool running();
  void kill();
  pid_t pid() const { return pid_; }
  // What the child wrote to its standard output and error until now.
  std::string log() const;

 private:
  pid_t pid_ = -1;
  Fd socket_, log_;
  bool reaped_ = false;
};

}  // namespace stax::base
