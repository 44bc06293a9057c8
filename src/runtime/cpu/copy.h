// Strided copies on the CPU.
#pragma once
#include <span>

#include "runtime/device_runtime.h"

namespace stax::runtime {

// Equal dtypes are moved by the fastest loop that the strides allow, on all threads when large; others are converted as
// copy_elements does.
void cpu_copy(const CopyArgs& args);

// dst[i…] = src[i…] for elements of `bytes` bytes; strides in elements. Overlap is not allowed.
void strided_copy(void* dst, std::span<const std::int64_t> dst_strides, const void* src,
                  std::span<const std::int64_t> src_strides, std::span<const std::int64_t> sizes, int bytes);

}  // namespace stax::runtime
