// How a kernel runs as Triton programs, as data beside the kernel. A schedule never changes what is computed; it is
// right for every size that its promises allow, and the promises are guarded by whoever launches the kernel.
//
//   schedule triton { x i0 / 1; warps 8; index 32; phase 0: persistent 1024, load last; phase 1: persistent 1024 }
//   schedule triton { y i0 / 64; x i1 / 64; warps 8; index 64; phase 0; align b0; promise s1 % 4, s1 <= 4096 }
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/scanner.h"
#include "loop/ir.h"

namespace stax::loop {

// How a phase runs over its inner axes: it has none; all of them in one block; block by block with accumulators.
enum class InnerForm : std::uint8_t { none, persistent, looped };
// What a load or store says about the cache: nothing, used again (evict_last), used once (evict_first).
enum class Evict : std::uint8_t { none, last, first };

struct TritonPhase {
  InnerForm form = InnerForm::none;
  std::int64_t block = 1;                         // elements of the merged inner axes at a time, a power of two
  Evict load = Evict::none, store = Evict::none;  // of loads that each program makes once; shared ones are kept
  bool operator==(const TritonPhase&) const = default;
};

// What a launch must have checked of a size symbol: a multiple, an upper bound (0: none).
struct SizePromise {
  Expr size;
  std::int64_t multiple_of = 1, at_most = 0;
  bool operator==(const SizePromise&) const = default;
};

struct TritonSchedule {
  // The outer axes, outermost first; each group is one range that is cut into blocks. y is empty in all forms but
  // 2-dimensional tiles of pointwise kernels.
  std::vector<int> y, x;
  std::int64_t y_block = 1, x_block = 1;  // powers of two
  int warps = 4;
  int index_bits = 64;  // 32 only where every address is proven to fit
  std::vector<TritonPhase> phases;
  std::vector<BufferId> aligned;  // buffers whose first element is promised to lie at a multiple of 16 bytes
  std::vector<SizePromise> promises;
  bool operator==(const TritonSchedule&) const = default;
};

// The facts of the program with the promises of the schedule.
symbolic::Facts facts_of(const TritonSchedule& s, const Program& p);
// Product of the extents of a group of outer axes, or of the inner axes of a phase.
Expr length_of(const Kernel& k, const std::vector<int>& group, const Program& p);
Expr length_of(const Phase& phase, const Program& p);

// Throws InternalError when the schedule does not fit the kernel, a persistent block may be too short, or a 32-bit
// index may overflow.
void verify(const TritonSchedule& s, const Kernel& k, const Program& p);
// Whether every address and index value of the kernel, and the lengths of its domain, fit 31 bits under the facts.
bool fits_32_bits(const Kernel& k, const Program& p, const symbolic::Facts& facts);

std::string to_text(const TritonSchedule& s, const Kernel& k, const Program& p);
// Throws UserError with line and column.
TritonSchedule parse_triton_schedule(base::Scanner& in, const Kernel& k, const Program& p);
TritonSchedule parse_triton_schedule(std::string_view text, const Kernel& k, const Program& p,
                                     std::string file = "<text>");

}  // namespace stax::loop
