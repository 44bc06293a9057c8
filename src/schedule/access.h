// How a kernel touches memory along its axes, and what an element of it costs.
#pragma once
#include <span>

#include "loop/ir.h"

namespace stax::schedule {

enum class Stride : std::uint8_t { none, unit, other };  // of an address along an axis: 0, 1, anything else
Stride stride_along(loop::Expr address, loop::Expr axis);

std::int64_t hint_or(loop::Expr e, std::int64_t otherwise);
// Product of the hints of the extents.
std::int64_t hint_of(const std::vector<loop::Axis>& axes, std::int64_t otherwise);

// When one of the buffers has more than a few elements: kernels about fewer gain nothing from 16-byte accesses, so that
// their sizes are promised nothing.
symbolic::Bool gains_from_wide_accesses(const loop::Program& p, std::span<const loop::BufferId> buffers);

// Rough cost of one element of the costliest phase, in vector instructions.
std::int64_t cost_of(const loop::Kernel& k);
std::int64_t cost_of(const loop::Kernel& k, const loop::Phase& p);

}  // namespace stax::schedule
