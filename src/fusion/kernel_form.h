// The form of kernels before and after fusion.
#pragma once
#include "fusion/sizes.h"
#include "loop/ir.h"

namespace stax::fusion {

// Axes of extent 1 go; phases whose inner extents agree share their axes (while fusing, one row has one name).
void share_row_axes(loop::Kernel& k);

// The opposite, as the IR wants it: every phase has inner axes of its own.
void separate_row_axes(loop::Program& program, loop::Kernel& k);

// Moves what a phase computes from loads and values of the unit alone out of its loop, into a phase without inner axes.
// Loads and what can raise an error only leave loops that are never empty.
void hoist_unit_values(const loop::Program& program, loop::Kernel& k);

// "per_softmax": form and operators. poi: no reduction; red: reduction; per: the row of a reduction is visited again;
// scan.
std::string kernel_name(const loop::Program& program, const loop::Kernel& k);

}  // namespace stax::fusion
