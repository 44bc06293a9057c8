// Vertical fusion: pointwise producers are computed where they are read, or realised as a buffer.
#pragma once
#include "fusion/fusion.h"
#include "fusion/item_graph.h"
#include "fusion/sizes.h"

namespace stax::fusion {

// Inlines what pays, in program order. Producers of outputs and of library operands stay; so do those that would be
// computed again at a cost (see docs/fusion.md); joining may still unite them with their consumers.
void inline_producers(Program& program, ItemGraph& graph, const Sizes& sizes, const FusionOptions& options);

}  // namespace stax::fusion
