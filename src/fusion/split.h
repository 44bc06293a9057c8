// Splits reductions with too few outputs for the machine into two layers. Runs on the lowered program, before fusion,
// so that the second layer can absorb its consumers and the first its producers.
//
//   red_sum outer (i0 < 64), phase (r0 < 16384)   becomes, in 2 parts,
//   red_sum_partial outer (i1 < 64, i2 < 2), phase (r1 < 8192) → partial tuples [64, 2]
//   red_sum         outer (i0 < 64), phase (r2 < 2) combines the tuples, then stores as before
//
// A length that the parts do not divide is never rounded: part c takes floordiv(n, parts) elements, and the n mod parts
// elements left over go one each to the first parts, as tuples of their own: the buffer is then [64, 2·parts].
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "loop/ir.h"

namespace stax::fusion {

struct SplitTarget {
  std::int64_t parallel_units = 2;     // outputs at or above this number are not split
  std::int64_t min_chunk = 32 * 1024;  // elements of a row that are worth a unit
  // The same where later kernels go over the row again with the result, as softmax does: without a split all of it is
  // one kernel.
  std::int64_t min_chunk_of_revisited = std::numeric_limits<std::int64_t>::max();
  std::int64_t column_tile = 64;  // neighbouring outputs that one unit takes when rows are not contiguous
  // A row that is split is cut into parts of at most so many elements: many small units in flight keep the memory of a
  // GPU busy, where a CPU's thread walks a long part as fast.
  std::int64_t max_chunk = std::numeric_limits<std::int64_t>::max();

  static SplitTarget cpu(int threads) { return {.parallel_units = threads}; }
  static SplitTarget gpu(int multiprocessors) {
    // A further launch costs about as much as a program needs for 16k elements.
    return {.parallel_units = multiprocessors,
            .min_chunk = 8 * 1024,
            .min_chunk_of_revisited = 64 * 1024,
            .column_tile = 32,
            .max_chunk = 32 * 1024};
  }
};

// The number of parts in which a reduction is cut: 1 = not split, else a power of two. `outputs` are units of work.
std::int64_t split_count(std::int64_t outputs, std::int64_t length, const SplitTarget& target);

// Returns the names of the kernels that were split.
std::vector<std::string> split_reductions(loop::Program& program, const SplitTarget& target);

}  // namespace stax::fusion
