// How a kernel runs on a target, as data beside the kernel. A schedule never changes what is computed, only the order;
// every choice is right for every size.
//
//   schedule cpu { units i0, i1 / 8192 grain 32768; vector i1; phase 0: unroll 2, stream }
//   schedule cpu { units i0 grain 16384; vector inner; phase 0: vector r0, unroll 4; phase 1: unroll 2, stream; keep %3
//   up to 65536 } schedule cpu { units i0, i1 / 64 grain 32768; vector i1; tile i0 64; phase 0: stream } schedule cpu {
//   units grain 65536; vector inner; split inner 0; phase 0: unroll 4; phase 1 }
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/scanner.h"
#include "loop/ir.h"

namespace stax::loop {

struct CpuPhaseSchedule {
  int vector = -1;  // inner form: position of the vectorised inner axis, which becomes the innermost; -1: the last
  int unroll = 1;   // vectors (inner form) or rows (outer form) per iteration: independent accumulators
  // Loads fetch what comes soon into the cache; 0: none. Inner form: the row so many units ahead. Tiled form:
  // transposed loads their part of the next unit, the others the square so many squares ahead.
  int ahead = 0;
  bool stream = false;  // non-temporal stores when the stored bytes exceed the last-level cache (asked at run time)
  bool operator==(const CpuPhaseSchedule&) const = default;
};

// A value of a phase with one inner axis that is stored in a row buffer per thread; equal values of later phases over
// the same extent read it instead of computing it again. Longer rows are recomputed.
struct KeptValue {
  ValueId value = kNoValue;
  std::int64_t limit = 0;  // longest row that is kept, in elements
  bool operator==(const KeptValue&) const = default;
};

struct CpuSchedule {
  // The units, outermost first: a permutation of the outer axes. All of them together form one range that is shared out
  // to the threads in contiguous pieces.
  std::vector<int> order;
  // The vectorised outer axis (outer form: lanes are units), or -1: an inner axis of each phase (inner form).
  int vector_axis = -1;
  std::int64_t chunk = 0;  // elements of the vectorised outer axis in one unit; 0: all
  // Outer form of a pointwise kernel whose loads are contiguous along another axis: tiles are transposed in registers.
  int tile_axis = -1;
  std::int64_t tile = 0;  // elements of the tile axis in one unit
  // Few units: every unit is computed by all threads, which share out this inner axis (by position in each phase).
  int split = -1;
  std::int64_t stream_bytes = std::int64_t{32} << 20;  // the last-level cache
  std::int64_t grain = 1;                              // least elements (product of all extents) worth a thread
  std::vector<CpuPhaseSchedule> phases;
  std::vector<KeptValue> keep;
  bool operator==(const CpuSchedule&) const = default;
};

// Throws InternalError when the schedule does not fit the kernel.
void verify(const CpuSchedule& s, const Kernel& k);
std::string to_text(const CpuSchedule& s, const Kernel& k);
// Throws UserError with line and column.
CpuSchedule parse_cpu_schedule(base::Scanner& in, const Kernel& k);
CpuSchedule parse_cpu_schedule(std::string_view text, const Kernel& k, std::string file = "<text>");

}  // namespace stax::loop
