// Kernels of a cubin, loaded into the device.
#pragma once
#include <memory>
#include <string>

#include "runtime/cuda/context.h"

namespace stax::runtime {

// What LaunchArgs::function points to.
struct CudaFunction {
  cu::FunctionHandle handle = nullptr;
  unsigned threads = 0, shared_bytes = 0;
  bool reports = false;
  const char* name = nullptr;  // "softmax_0 of model": lives as long as the process
};

// The functions of `image.entries` are looked up and prepared at once. DeviceError with the numbers when a program asks
// for more shared memory or threads than the device has. The result must not outlive the context.
std::shared_ptr<Module> load_cuda_module(const CudaContext& context, const ModuleImage& image);

// Queues the kernel. Parameters are packed on the stack: an 8-byte slot each, of which the driver reads as many bytes
// as the kernel declares.
void launch_cuda_kernel(const CudaContext& context, const LaunchArgs& args, cu::StreamHandle stream);

}  // namespace stax::runtime
