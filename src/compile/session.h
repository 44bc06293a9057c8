// What compilations of one cache directory share: the compiler, the stores of kernels on disk and in memory.
#pragma once
#include <memory>
#include <string>

#include "build/kernel_store.h"
#include "schedule/schedule.h"

namespace stax::compiler {

class Session {
 public:
  // The session of a cache directory (empty: the default one); made once, kept for the process. Thread-safe. Does not
  // fail on a missing compiler: `kernels` does, when one is needed.
  static Session& of(const std::string& cache_dir);

  build::KernelStore& kernels();  // UserError when there is no compiler
  schedule::CpuTarget cpu_target() const;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

 private:
  explicit Session(const std::string& cache_dir);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stax::compiler
