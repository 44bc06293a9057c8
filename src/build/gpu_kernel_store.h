// Triton kernels by content: loaded on the device already, on disk, or compiled now.
#pragma once
#include <stax/tensor/device.h>

#include "build/kernel_store.h"
#include "build/triton_compiler.h"

namespace stax::build {

struct GpuKernel {
  std::shared_ptr<runtime::Module> module;
  KernelResources resources;
};

// Thread-safe.
class GpuKernelStore {
 public:
  explicit GpuKernelStore(TritonCompiler& compiler) : compiler_(compiler) {}

  // One kernel a job, in order; the missing ones are compiled in parallel, each text once. `mine`, when given, is what
  // this call added to the statistics. Errors of TritonCompiler and of DeviceRuntime::load_module.
  std::vector<GpuKernel> build_or_load_all(std::span<const TritonJob> jobs, Device device,
                                           KernelStoreStats* mine = nullptr);
  // Starts the first worker off this thread; once.
  void warm_up();
  const TritonCompiler& compiler() const { return compiler_; }
  KernelStoreStats stats() const;

 private:
  struct Live {
    std::weak_ptr<runtime::Module> module;
    KernelResources resources;
  };
  using Key = std::pair<base::Digest, int>;  // job and device
  // Without a module when nobody keeps it loaded.
  GpuKernel find_live(const Key& key) const;

  TritonCompiler& compiler_;

  mutable std::mutex mutex_;
  std::map<Key, Live> live_;
  KernelStoreStats stats_;
  std::once_flag warmed_up_;
};

}  // namespace stax::build
