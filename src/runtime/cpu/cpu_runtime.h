// The CPU as a device. Everything runs at once, on the calling thread and the OpenMP team.
#pragma once
#include "runtime/device_runtime.h"

namespace stax::runtime {

DeviceRuntime& cpu_runtime();

}  // namespace stax::runtime
