// One Python process that compiles Triton kernels, and the jobs and answers that travel to and from it.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/subprocess.h"

namespace stax::build {

struct TritonJob;

// The program of a worker, and the variables that it is started with.
const std::string& triton_worker_script();
const std::vector<std::pair<std::string, std::string>>& triton_worker_environment();
// A program that stands alone and compiles one job as a worker does: for reports of refused kernels.
std::string triton_program(const TritonJob& job);

struct TritonJob {
  struct Parameter {
    std::string name, type;  // "b0", "*fp32"
    int multiple_of = 1;
  };
  std::string name;  // for messages
  std::string function, text;
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::string, std::int64_t>> constants;
  int warps = 4, stages = 1;
};

// What a compiled kernel takes of a multiprocessor.
struct KernelResources {
  int warps = 4;              // threads of a program / 32
  std::int64_t shared = 0;    // bytes of dynamic shared memory a program
  int registers = 0;          // a thread
  int spills = 0, stack = 0;  // bytes a thread
};

struct TritonBinary : KernelResources {
  std::string cubin;
  std::string function;                         // entry point
  std::int64_t scratch = 0, scratch_align = 1;  // bytes of global memory a program
};

// What became of a job: a binary, a message of Triton, or a worker that has to be replaced.
struct TritonAnswer {
  enum class Kind { compiled, refused, lost };
  Kind kind = Kind::lost;
  TritonBinary binary;
  std::string problem;    // of Triton, or what happened to the worker
  std::string statement;  // the line of the kernel that Triton refused; its comment names the operator
};

// Not thread-safe. The process starts in the constructor; the first answer waits for it.
class TritonWorker {
 public:
  TritonWorker(const std::string& python, const std::string& script);
  // UserError that says what to install when Python has no usable Triton.
  TritonAnswer compile(const TritonJob& job, std::chrono::milliseconds timeout);
  const std::string& version() const { return version_; }  // of Triton, after the first answer
  pid_t pid() const { return process_.pid(); }

 private:
  void greet(std::chrono::milliseconds timeout);
  TritonAnswer lost(base::WorkerProcess::Status status, std::chrono::milliseconds timeout) const;

  std::string python_;
  base::WorkerProcess process_;
  std::optional<TritonAnswer> failed_start_;
  std::string version_;
};

}  // namespace stax::build
