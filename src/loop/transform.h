// Transformations of kernels that keep their meaning.
#pragma once
#include "loop/ir.h"

namespace stax::loop {

// Merges neighbouring axes (outer with outer, inner with inner of every phase that has them) where every address in the
// kernel is linear in both with coefficient(outer) = extent(inner)·coefficient(inner): 16384·i0 + 8192·i1 → 8192·x0.
void merge_axes(Program& p, Kernel& k);

// Orders the outer axes so that the store's (else the loads') smallest stride is innermost. Returns whether it changed.
bool reorder_outer_axes(const Program& p, Kernel& k);

// Values equal up to their operands become one; what neither a store nor a check needs is dropped.
void eliminate_common_values(Kernel& k);
void eliminate_dead_values(Kernel& k);

// Replaces every load of `producer`'s stored buffer in `consumer` by producer's computation at that address. Producer
// is pointwise with one store to a buffer; returns false when an address cannot be inverted to producer axes (then
// nothing changes). `round_half`: insert the rounding of the stored dtype (the buffer is realised as well, or numerics
// are strict). `allow_division`: an address that no linear index gives may be taken apart by divisions and remainders.
bool inline_producer(Program& p, Kernel& consumer, const Kernel& producer, const Store& store, bool round_half,
                     bool allow_division = true);

// A kernel in its own context with canonical names (outer axes i0…, inner r0…, sizes n0…, buffers b0…): kernels equal
// up to names have equal canonical text. The maps say what each canonical parameter is in the program.
struct Canonical {
  std::shared_ptr<symbolic::Context> context;
  Program program;                // holds the one kernel, its buffers and scalars
  std::vector<BufferId> buffers;  // canonical buffer → program buffer
  std::vector<Expr> sizes;        // canonical size symbol → expression of the program
  std::vector<int> scalars;       // canonical scalar → program scalar
  std::vector<int> origins;       // canonical origin → program origin, of values that can fail
};
Canonical canonicalize(const Program& p, const Kernel& k);

}  // namespace stax::loop
