// Strided copies on the CPU.
#pragma once
#include <stax/tensor/array.h>

namespace stax::runtime {

// Elementwise copy with conversion as copy_elements, of equal sizes; equal dtypes are moved by the fastest loop that
// the strides allow, on all threads when large.
void cpu_copy(const Array& from, const Array& to);

// dst[i…] = src[i…] for elements of `bytes` bytes; strides in elements. Overlap is not allowed.
void strided_copy(void* dst, std::span<const std::int64_t> dst_strides, const void* src,
                  std::span<const std::int64_t> src_strides, std::span<const std::int64_t> sizes, int bytes);

}  // namespace stax::runtime
