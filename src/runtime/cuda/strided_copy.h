// Copies between strided layouts on the device, by a kernel that the driver compiles from PTX when first needed.
#pragma once
#include <memory>
#include <mutex>

#include "runtime/cuda/cuda_module.h"

namespace stax::runtime {

// Thread-safe.
class CudaStridedCopy {
 public:
  explicit CudaStridedCopy(const CudaContext& context) : context_(context) {}

  // to[i…] = from[i…] for elements of `bytes` (1, 2, 4 or 8) bytes; strides in elements, any sign, 0 in `from_strides`
  // repeats. The memory must not overlap.
  void run(void* to, std::span<const std::int64_t> to_strides, const void* from,
           std::span<const std::int64_t> from_strides, std::span<const std::int64_t> sizes, int bytes,
           cu::StreamHandle stream);

 private:
  const CudaFunction& kernel(int bytes);

  const CudaContext& context_;
  std::mutex mutex_;
  std::shared_ptr<Module> module_;
};

}  // namespace stax::runtime
