#include <algorithm>

#include "graph/op_def.h"
#include "passes/passes.h"

namespace stax::passes {

namespace {

using graph::Node;
using graph::TensorType;
using graph::Value;
using symbolic::Expr;

bool same(const Graph& g, Expr a, Expr b) { return a == b || g.env().is_always(eq(a, b)); }

// Whether the batch axes of `t` are those of the product, none of them broadcast.
bool has_batches_of(const Graph& g, const TensorType& t, const TensorType& result) {
  if (t.rank() != result.rank()) return false;
  for (std::size_t i = 0; i + 2 < t.sizes.size(); ++i)
    if (!same(g, t.sizes[i], result.sizes[i]) || t.strides[i].is_constant(0)) return false;
  return true;
}

// Whether the batch axes are one run of matrices at equal distances.
bool is_one_run(const Graph& g, const TensorType& t) {
  int inner = -1;
  for (int i = t.rank() - 3; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i), next = static_cast<std::size_t>(inner);
    if (t.sizes[at].is_constant(1)) continue;
    if (inner >= 0 && !same(g, t.strides[at], t.sizes[next] * t.strides[next])) return false;
    inner = i;
  }
  return true;
}

// Row-major, or column-major where the rows' axis is the one of stride 1.
Value dense(Graph& to, const Value& v, const SourceLoc& where) {
  const TensorType& t = v.type();
  const std::size_t last = t.strides.size() - 1;
  if (!t.strides[last - 1].is_constant(1) || t.strides[last].is_constant(1))
    return to.add("contiguous", {v}, {}, where);
  const graph::Attributes swap{{"axis0", std::int64_t{-2}}, {"axis1", std::int64_t{-1}}};
  return to.add("transpose", {to.add("contiguous", {to.add("transpose", {v}, swap, where)}, {}, where)}, swap, where);
}

}  // namespace

Graph fold_batches(const Graph& g, const PassOptions& options) {
  return graph::rewrite(g, [&](Graph& to, const Node& node, const std::vector<Value>& operands) -> std::vector<Value> {
    if (!options.one_batch_stride || node.op->name != "matmul_fused" || node.types[0].rank() < 4) return {};
    // A broadcast operand stays as it is: the product is queued once a batch of the outer axes.
    for (std::size_t i = 0; i < 2; ++i)
      if (!has_batches_of(to, operands[i].type(), node.types[0])) return {};
    std::vector<Value> made = operands;
    bool changed = false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (is_one_run(to, operands[i].type())) continue;
      made[i] = dense(to, operands[i], node.where);
      changed = true;
    }
    if (!changed) return {};
    return {to.append(*node.op, std::move(made), node.attributes, node.types, node.where)->value()};
  });
}

}  // namespace stax::passes
