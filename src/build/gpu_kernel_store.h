// Triton kernels by content: loaded on the device already, on disk, or compiled now.
#pragma once
#include <stax/tensor/device.h>

#include "build/kernel_store.h"
#include "build/triton_compiler.h"

namespace stax::build {

// Thread-safe.
class GpuKernelStore {
 public:
  explicit GpuKernelStore(TritonCompiler& compiler) : compiler_(compiler) {}

  // One module a job, in order; the missing ones are compiled in parallel, each text once. `mine`, when given, is what
  // this call added to the statistics. Errors of TritonCompiler and of DeviceRuntime::load_module.
  std::vector<std::shared_ptr<runtime::Module>> build_or_load_all(std::span<const TritonJob> jobs, Device device,
                                                                  KernelStoreStats* mine = nullptr);
  // Starts the first worker off this thread; once.
  void warm_up();
  const TritonCompiler& compiler() const { return compiler_; }
  KernelStoreStats stats() const;

 private:
  TritonCompiler& compiler_;
  mutable std::mutex mutex_;
  std::map<std::pair<base::Digest, int>, std::weak_ptr<runtime::Module>> live_;  // by job and device
  KernelStoreStats stats_;
  std::once_flag warmed_up_;
};

}  // namespace stax::build
