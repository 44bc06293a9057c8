// What a kernel reports when it meets bad data; one word a call, shared by all its kernels.
#pragma once
#include <cstdint>

namespace stax::runtime {

enum class ErrorCode : std::int64_t {
  none = 0,
  index_out_of_range = 1,          // valid: [0, bound)
  division_by_zero = 2,            // of integers
  index_out_of_range_wrapping = 3  // valid: [-bound, bound)
};

// Plain memory, written by generated code: the first report wins (kernels compare-and-swap `code` from 0, then fill in
// the rest; readers look after the kernel has ended). `origin` counts in the plan's table of origins.
struct ErrorWord {
  std::int64_t code = 0, origin = 0, index = 0, bound = 0;
};
static_assert(sizeof(ErrorWord) == 32);

}  // namespace stax::runtime
