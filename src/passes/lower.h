// Graph to loops: one kernel an operator, views folded into addresses.
#pragma once
#include "graph/graph.h"
#include "loop/ir.h"

namespace stax::passes {

struct LowerOptions {
  bool index_checks = true;  // CompileOptions::checks
};

// The graph must be decomposed. Buffers: tensor inputs in order first; then one a materialised value. Outputs are views
// of buffers; a written input is stored to by the last items, after every read of it.
loop::Program lower(const graph::Graph& g, const LowerOptions& options = {});

}  // namespace stax::passes
