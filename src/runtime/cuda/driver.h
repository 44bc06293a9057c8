// The CUDA driver: its functions, and its errors as DeviceError.
#pragma once
#include <string>
#include <string_view>

#include "runtime/cuda/driver_api.h"

namespace stax::runtime {

class CudaDriver : public cu::Functions {
 public:
  // Opens and initialises the driver. DeviceError when there is none, when it is older than CUDA 12.0, or when it finds
  // no device.
  explicit CudaDriver(const std::string& library);
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  int version() const { return version_; }  // 13000: CUDA 13.0
  int devices() const { return devices_; }
  // "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
  std::string text_of(cu::Result error) const;
  // DeviceError "<what>: <error>" unless it succeeded.
  void check(cu::Result result, std::string_view what) const {
    if (result != cu::kSuccess) [[unlikely]]
      fail(result, what);
  }
  [[noreturn]] void fail(cu::Result result, std::string_view what) const;

 private:
  int version_ = 0, devices_ = 0;
};

// The process's driver: STAX_CUDA_DRIVER, else libcuda.so.1. Throws as the constructor does, at every call.
const CudaDriver& cuda_driver();

std::string cuda_version_text(int version);  // 13000 → "13.0"

}  // namespace stax::runtime
