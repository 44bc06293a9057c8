// Triton kernels to cubins, by worker processes, through the disk cache. With everything in the cache no Python starts.
#pragma once
#include <stax/base/error.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "build/triton_worker.h"

namespace stax::cache {
class Store;
}

namespace stax::build {

struct TritonOptions {
  std::string python;  // empty: STAX_PYTHON, else .venv/bin/python3 of the working directory, else python3
  std::string script;  // of the worker; empty: triton_worker_script()
  std::chrono::milliseconds timeout{120'000};  // for one kernel
  int jobs = 0;                                // workers at most; 0: STAX_COMPILE_JOBS, else the usable cores
};

struct TritonStats {
  std::uint64_t built = 0;  // compiled by a worker
  std::uint64_t disk_hits = 0;
  std::uint64_t started = 0;   // worker processes
  std::uint64_t replaced = 0;  // workers that crashed, hung or answered nonsense
};

// Triton, or the assembler behind it, does not take a kernel.
class TritonRefusal : public InternalError {
 public:
  TritonRefusal(TritonJob job, std::string problem, std::string statement);
  const TritonJob& job() const { return job_; }
  const std::string& problem() const { return problem_; }      // in Triton's words
  const std::string& statement() const { return statement_; }  // of the kernel; may be empty
  const std::string& from() const { return from_; }            // the statement's comment: "load of gelu"

 private:
  TritonJob job_;
  std::string problem_, statement_, from_;
};

// Thread-safe.
class TritonCompiler {
 public:
  // `disk` may be null; it must outlive the compiler. Starts no process; a missing Python is an error when one is
  // needed.
  explicit TritonCompiler(TritonOptions options = {}, cache::Store* disk = nullptr);
  ~TritonCompiler();

  // Path of the interpreter; UserError that says what to install when there is none.
  std::string python() const;
  // Starts workers on a thread of their own, so that the first kernel finds them warm.
  void warm_up(int workers = 1);

  base::Digest key(const TritonJob& job) const;
  // TritonRefusal with Triton's message and the kernel's statement; UserError when there is no usable Python, or a
  // second worker was lost on the same kernel.
  TritonBinary compile(const TritonJob& job);
  // In parallel, results in order, equal jobs once; the first error is thrown after all have ended. `mine`, when given,
  // is what this call added to `built` and `disk_hits`.
  std::vector<TritonBinary> compile_all(std::span<const TritonJob> jobs, TritonStats* mine = nullptr);
  TritonStats stats() const;

 private:
  std::unique_ptr<TritonWorker> take_worker();
  void return_worker(std::unique_ptr<TritonWorker> worker);
  TritonBinary build(const TritonJob& job);
  TritonBinary compile(const TritonJob& job, TritonStats* mine);

  TritonOptions options_;
  cache::Store* disk_;
  std::string identity_;  // of the interpreter and its Triton, by their files
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::vector<std::unique_ptr<TritonWorker>> workers_;  // idle ones
  int busy_ = 0;
  TritonStats stats_;
  std::vector<std::thread> warming_;
};

}  // namespace stax::build
