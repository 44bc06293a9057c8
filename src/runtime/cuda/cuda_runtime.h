// One NVIDIA GPU as a device. All work is queued on one stream; the host waits only where it reads.
#pragma once
#include <functional>
#include <memory>

#include "runtime/cuda/error_slots.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/matmul.h"
#include "runtime/cuda/staging.h"
#include "runtime/device_runtime.h"

namespace stax::runtime {

class CudaRuntime final : public DeviceRuntime {
 public:
  // DeviceError when the device does not exist or cannot run the kernels.
  CudaRuntime(const CudaDriver& driver, int index, CudaMatmul::Library library, std::size_t memory_limit = 0);
  ~CudaRuntime() override;

  Device device() const override { return {DeviceKind::cuda, context_.index()}; }
  Allocator& allocator() override { return allocator_; }
  bool executes() const override { return true; }
  std::string isa() const override { return "sm_90"; }
  std::shared_ptr<Module> load_module(const ModuleImage& image) override;
  void launch(const LaunchArgs& args, Stream stream = {}) override {
    launch_cuda_kernel(context_, args, context_.handle_of(stream));
  }
  void matmul(const MatmulArgs& args, Stream stream = {}) override { matmul_.run(args, context_.handle_of(stream)); }
  base::Decision can_matmul(const MatmulKind& kind) const override;
  // Equal dtypes only.
  void copy(const CopyArgs& args, Stream stream = {}) override;
  void upload(void* to, const void* from, std::size_t bytes, Stream stream = {}) override;
  void download(void* to, const void* from, std::size_t bytes, Stream stream = {}) override;
  void synchronize(Stream stream = {}) override;
  DeviceProperties properties() const override { return context_.properties(); }
  std::shared_ptr<ErrorSlot> error_slot(RaiseError raise) override { return slots_.make(std::move(raise)); }

  // Beyond DeviceRuntime.
  const CudaContext& context() const { return context_; }
  DeviceAllocator& memory() { return allocator_; }
  CudaMatmul& products() { return matmul_; }
  // What `work` queues from the calling thread, recorded and not run. It must have run once before: loading kernels,
  // getting memory from the driver, reading results and waiting are DeviceErrors during the capture. Nothing else may
  // use the device meanwhile.
  std::unique_ptr<CudaGraph> capture(const std::function<void()>& work);

 private:
  class Segments;

  CudaContext context_;
  std::unique_ptr<Segments> segments_;
  DeviceAllocator allocator_;
  CudaStaging staging_;
  CudaErrorSlots slots_;
  CudaStridedCopy copies_;
  CudaMatmul matmul_;
};

// The process's runtime of cuda:index. DeviceError, at every call, when the device cannot be used.
CudaRuntime& cuda_runtime(int index);

}  // namespace stax::runtime
