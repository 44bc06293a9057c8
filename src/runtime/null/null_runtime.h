// The null device: plans and builds as for a GPU of sm_90, allocates nothing, launches nothing.
#pragma once
#include <cstdint>

#include "runtime/device_runtime.h"

namespace stax::runtime {

DeviceRuntime& null_runtime();

// What would have run, for tests. Of the process.
struct NullCounts {
  std::uint64_t modules = 0, launches = 0, matmuls = 0, copies = 0, allocations = 0, bytes = 0;
};
NullCounts null_counts();

}  // namespace stax::runtime
