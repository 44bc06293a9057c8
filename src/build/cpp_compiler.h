// The system's C++ compiler: source text of kernels to shared objects.
#pragma once
#include <stax/base/error.h>

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/subprocess.h"
#include "runtime/cpu/isa.h"

namespace stax::build {

// One translation unit. It includes nothing.
struct CppJob {
  std::string name;  // for messages and file names
  std::string source;
};

struct CppOptions {
  std::string compiler;       // empty: STAX_CXX, else g++, else c++
  std::string sanitize;       // "", "address", "thread", "undefined"; empty: STAX_KERNEL_SANITIZE
  runtime::CpuTarget target;  // what host_target() says unless set
  std::chrono::milliseconds timeout{120'000};
  int jobs = 0;  // compiler processes at the same time; 0: STAX_COMPILE_JOBS, else the usable cores
};

// There is no compiler, or it does not do its work on this machine: no fault of the kernel.
class CompilerError : public UserError {
 public:
  using UserError::UserError;
};

// A compiler that works does not take a kernel.
class CppRefusal : public InternalError {
 public:
  CppRefusal(CppJob job, const std::string& what) : InternalError(what), job_(std::move(job)) {}
  const CppJob& job() const { return job_; }

 private:
  CppJob job_;
};

// Immutable and thread-safe.
class CppCompiler {
 public:
  // CompilerError that says what to install when there is no compiler. Starts no process.
  explicit CppCompiler(CppOptions options = {});

  const std::string& path() const { return path_; }
  const runtime::CpuTarget& target() const { return options_.target; }
  // All arguments but the names of the files.
  const std::vector<std::string>& flags() const { return flags_; }
  // Changes whenever the installed compiler does: resolved path, size and time of its files.
  const std::string& identity() const { return identity_; }
  // First line of `--version`; runs the compiler.
  std::string version() const;

  // The shared object's bytes. CppRefusal with the first diagnostics and the place where the source was kept when it
  // does not compile; CompilerError when the compiler cannot be run, works on nothing, or ran out of time or space.
  std::string compile(const CppJob& job) const;
  // In parallel, results in order; the first error is thrown after all have ended.
  std::vector<std::string> compile_all(std::span<const CppJob> jobs) const;

 private:
  base::ProcessResult run(const std::filesystem::path& folder, const std::filesystem::path& source,
                          const std::filesystem::path& object) const;

  CppOptions options_;
  std::string path_, identity_;
  std::vector<std::string> flags_;
};

}  // namespace stax::build
