#include "runtime/device_runtime.h"

#include "runtime/cpu/cpu_runtime.h"
#include "runtime/cuda/cuda_runtime.h"
#include "runtime/null/null_runtime.h"

namespace stax::runtime {

DeviceRuntime& runtime_for(Device device) {
  if (device.kind == DeviceKind::cpu) return cpu_runtime();
  if (device.kind == DeviceKind::null_gpu) return null_runtime();
  return cuda_runtime(device.index);
}

}  // namespace stax::runtime
