// Shared objects of CPU kernels.
#pragma once
#include <memory>

#include "runtime/module.h"

namespace stax::runtime {

// Loads from an anonymous file in memory: what runs is what was verified. DeviceError when the CPU lacks the image's
// instruction set or the loader refuses. The code is unloaded with the last reference.
std::shared_ptr<Module> load_shared_object(const ModuleImage& image);

}  // namespace stax::runtime
