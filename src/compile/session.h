// What compilations of one cache directory share: the compilers, the stores of kernels on disk and in memory.
#pragma once
#include <memory>
#include <string>

#include "build/gpu_kernel_store.h"
#include "build/kernel_store.h"
#include "schedule/schedule.h"

namespace stax::compiler {

class Session {
 public:
  // The session of a cache directory (empty: the default one); made once, kept for the process. Thread-safe. Does not
  // fail on a missing compiler: `kernels` does, when one is needed.
  static Session& of(const std::string& cache_dir);

  build::KernelStore& kernels();         // UserError when there is no compiler
  build::GpuKernelStore& gpu_kernels();  // a missing Python is an error when a kernel has to be built
  // Whether a compilation of this content ended well in this cache before; `remember` says that one did. A miss means
  // that kernels will have to be built.
  bool knows(const base::Digest& content);
  void remember(const base::Digest& content);
  schedule::CpuTarget cpu_target() const;
  // DeviceError when the machine lacks the device.
  schedule::Target target(Device device) const;
  // Once for each text.
  void warn_once(const std::string& text);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

 private:
  explicit Session(const std::string& cache_dir);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stax::compiler
