// Splits reductions with too few outputs for the machine into two layers. Runs on the lowered program, before fusion,
// so that the second layer can absorb its consumers and the first its producers.
//
//   red_sum outer (i0 < 64), phase (r0 < 16384)   becomes, for splits = 2,
//   red_sum_partial outer (i0 < 64, i1 < 2), phase (r0 < 8192) → partial tuples [64, 2]
//   red_sum         outer (i0 < 64), phase (r0 < 2) combines the tuples, then stores as before
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "loop/ir.h"

namespace stax::fusion {

struct SplitTarget {
  std::int64_t parallel_units = 2;     // outputs at or above this number are not split
  std::int64_t min_chunk = 32 * 1024;  // elements of a row that are worth a unit
  std::int64_t column_tile = 64;       // neighbouring outputs that one unit takes when rows are not contiguous

  static SplitTarget cpu(int threads) { return {.parallel_units = threads}; }
  static SplitTarget gpu(int multiprocessors) {
    return {.parallel_units = multiprocessors, .min_chunk = 2048, .column_tile = 32};
  }
};

// The number of parts in which a reduction is cut: 1 = not split. A power of two unless an exact division of a constant
// length is near.
std::int64_t split_count(std::int64_t outputs, std::int64_t length, const SplitTarget& target);

// Returns the names of the kernels that were split. Lengths are never rounded: the last chunks are shorter, their
// extent being an expression over the outer axis that numbers the chunks.
std::vector<std::string> split_reductions(loop::Program& program, const SplitTarget& target);

}  // namespace stax::fusion
