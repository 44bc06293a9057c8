// Values of two phases that are equal element by element: what a schedule may keep instead of computing again.
#pragma once
#include "loop/ir.h"

namespace stax::codegen {

// Whether `later` computes, at every position of its phase's only inner axis, what `earlier` computes at the same
// position of its own. Both phases must run over the same extent.
bool same_value(const loop::Kernel& k, loop::ValueId later, loop::ValueId earlier);

// Whether `later` is e^(x - m), where the combine is an online softmax of x with maximum m.
bool is_softmax_weight(const loop::Kernel& k, loop::ValueId later, loop::ValueId combine);

// Whether the value is x - m with m the maximum of all x of the row: at most 0, or NaN.
bool is_below_maximum(const loop::Kernel& k, loop::ValueId v);

// The values of later phases that a kept value (a value, or an online softmax: its weights) stands for.
std::vector<loop::ValueId> readers_of_kept(const loop::Kernel& k, loop::ValueId kept);

}  // namespace stax::codegen
