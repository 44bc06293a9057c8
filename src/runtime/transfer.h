// Tensors from one device to another.
#pragma once
#include <stax/tensor/array.h>

namespace stax::runtime {

// The array itself when it is there already, else a copy of its own memory. Its strides are those of `a` when these
// fill a block of memory without gaps, else row-major. DeviceError when either device cannot be used, or has no values
// (null).
Array moved_to(const Array& a, Device device);
inline Array on_host(const Array& a) { return moved_to(a, Device{}); }

// to[i…] = from[i…] on the device of both; equal sizes and dtypes, no overlap.
void copy_on_device(const Array& from, const Array& to);

}  // namespace stax::runtime
