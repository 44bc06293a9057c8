#include "runtime/cuda/driver.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include "base/env.h"
#include "runtime/cuda/open_library.h"

namespace stax::runtime {

namespace {
constexpr int kOldestDriver = 12000;
}

std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

CudaDriver::CudaDriver(const std::string& library) {
  std::string problem;
  void* handle = open_library({library}, problem);
  if (!handle)
    throw DeviceError(
        fmt::format("no NVIDIA driver: {} cannot be opened ({}). Install the driver of the card, or run on the CPU "
                    "(STAX_DEVICE=cpu)",
                    library, problem));
#define X(member, symbol, parameters)                                                                \
  member = reinterpret_cast<decltype(member)>(library_symbol(handle, #symbol));                      \
  if (!member)                                                                                       \
    throw DeviceError(                                                                               \
        fmt::format("the NVIDIA driver {} has no function {}: it is older than CUDA {}. Update the " \
                    "driver",                                                                        \
                    library, #symbol, cuda_version_text(kOldestDriver)));
  STAX_CUDA_FUNCTIONS(X)
#undef X
  const cu::Result started = init(0);
  if (started == cu::kNoDevice) throw DeviceError("the NVIDIA driver is there, but finds no CUDA device");
  check(started, "the NVIDIA driver cannot be started");
  check(driver_version(&version_), "version of the NVIDIA driver");
  if (version_ < kOldestDriver)
    throw DeviceError(fmt::format("the NVIDIA driver supports CUDA {}, Stax needs {} or newer. Update the driver",
                                  cuda_version_text(version_), cuda_version_text(kOldestDriver)));
  check(device_count(&devices_), "number of CUDA devices");
  if (devices_ == 0) throw DeviceError("the NVIDIA driver is there, but finds no CUDA device");
}

std::string CudaDriver::text_of(cu::Result error) const {
  const char *name = nullptr, *text = nullptr;
  if (error_name(error, &name) != cu::kSuccess || !name) return fmt::format("CUDA error {}", error);
  if (error_string(error, &text) != cu::kSuccess || !text) return name;
  return fmt::format("{}: {}", name, text);
}

void CudaDriver::fail(cu::Result result, std::string_view what) const {
  throw DeviceError(fmt::format("{}: {}", what, text_of(result)));
}

const CudaDriver& cuda_driver() {
  static const CudaDriver* driver = new CudaDriver(base::env_text("STAX_CUDA_DRIVER").value_or("libcuda.so.1"));
  return *driver;
}

}  // namespace stax::runtime
