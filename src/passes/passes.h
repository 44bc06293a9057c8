// Graph to graph. Each pass returns a new graph that means the same; `all_passes` is the one list of them.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/decision.h"
#include "graph/graph.h"
#include "runtime/matmul.h"

namespace stax::passes {

using graph::Graph;

struct PassOptions {
  bool strict_numerics = false;  // half types round at every operator: nothing may skip a rounding
  // What the device's library computes in one call; empty: everything.
  std::function<base::Decision(const runtime::MatmulKind&)> can_matmul;
  bool one_batch_stride = false;  // the library steps through a batch by one stride only
};

// Drops nodes that no output and no write needs.
Graph eliminate_dead_code(const Graph& g, const PassOptions& options = {});
// Equal operators on equal operands become one node.
Graph eliminate_common_nodes(const Graph& g, const PassOptions& options = {});
// Pointwise operators on known scalars become literals.
Graph fold_constants(const Graph& g, const PassOptions& options = {});
// Removes operators that give their operand back bit for bit: x * 1, x / 1, integer x + 0, double negation, casts there
// and back through a wider type, copies of copies.
Graph clean_up(const Graph& g, const PassOptions& options = {});
// Takes from matrix products what the device's library cannot do in the call: epilogues become operators after it, and
// products that it does not have (integers on a GPU) become sums of products.
Graph split_matmul_epilogues(const Graph& g, const PassOptions& options = {});
// Operands of batched products whose matrices do not lie at equal distances are copied, so that one call does all.
Graph fold_batches(const Graph& g, const PassOptions& options = {});
// Bias, activation and residual of a matrix product join its call, where the library has them.
Graph fuse_matmul_epilogues(const Graph& g, const PassOptions& options = {});
// Replaces operators by their definitions in terms of primitive ones, until only primitives and views are left.
Graph decompose(const Graph& g, const PassOptions& options = {});

struct Pass {
  std::string_view name;
  Graph (*run)(const Graph&, const PassOptions&);
  std::string_view doc;
};
// In the order of the pipeline.
std::span<const Pass> all_passes();
const Pass* find_pass(std::string_view name);

}  // namespace stax::passes
