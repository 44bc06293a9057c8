// Matrix products on the CPU: oneDNN for f32 and bf16, blocked loops for the rest; packed weights.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/matmul.h"

namespace stax::runtime {

// UserError for an activation of an integer dtype. Thread-safe.
void cpu_matmul(const MatmulArgs& args);

struct MatmulStats {
  std::uint64_t calls = 0, primitives_built = 0, primitives_cached = 0;
  std::uint64_t packed = 0;       // weights brought into the library's layout
  std::uint64_t packed_hits = 0;  // calls that found theirs
  std::size_t packed_bytes = 0, packed_weights = 0;
};
MatmulStats matmul_stats();
// Drops all packed weights and primitives that no call is using.
void release_matmul_caches();
// Least recently used packed weights go when their bytes exceed this. Default: 4 GiB.
void set_packed_weight_limit(std::size_t bytes);

}  // namespace stax::runtime
