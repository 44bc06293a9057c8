#include <fmt/format.h>

#include <algorithm>

#include "graph/op_def.h"
#include "passes/passes.h"

namespace stax::passes {

namespace {

using graph::Node;
using graph::Value;

bool has_composite(const Graph& g) {
  for (const Node* n : g.nodes())
    if (n->op->decompose) return true;
  return false;
}

// Later views were made for the inferred layout. The strides of axes of size 1 and of empty tensors are part of it too,
// though operators that only ask for row-major memory leave them as they were.
Value with_layout(Graph& g, Value v, const graph::TensorType& wanted, const SourceLoc& where) {
  graph::TensorType t = v.type();
  const bool empty = std::any_of(t.sizes.begin(), t.sizes.end(), [](symbolic::Expr n) { return n.is_constant(0); });
  bool differs = false, other = false;
  for (std::size_t d = 0; d < t.sizes.size(); ++d) {
    if (t.strides[d] == wanted.strides[d]) continue;
    differs = true;
    other = other || !(empty || t.sizes[d].is_constant(1) || g.env().is_always(eq(t.strides[d], wanted.strides[d])));
  }
  if (!differs) return v;
  t.strides = wanted.strides;
  if (other) return g.append(graph::op("clone"), {v}, {}, {std::move(t)}, where)->value();
  const symbolic::Expr none = g.context().constant(0);
  graph::Attributes attributes{{"sizes", t.sizes}, {"strides", t.strides}, {"offset", none}};
  graph::Node* view = g.append(graph::op("as_strided"), {v}, std::move(attributes), {std::move(t)}, where);
  view->view_offset = none;
  return view->value();
}

Graph decompose_once(const Graph& g) {
  return graph::rewrite(g, [](Graph& to, const Node& node, const std::vector<Value>& operands) -> std::vector<Value> {
    if (!node.op->decompose) return {};
    Node copy = node;
    copy.operands = operands;
    std::vector<Value> results = node.op->decompose(to, copy, operands);
    STAX_CHECK(results.size() == node.types.size(),
               node.op->name + ": its decomposition has another number of results");
    for (std::size_t i = 0; i < results.size(); ++i) {
      STAX_CHECK(results[i].type().dtype == node.types[i].dtype &&
                     results[i].type().sizes.size() == node.types[i].sizes.size(),
                 node.op->name + ": its decomposition has another type");
      results[i] = with_layout(to, results[i], node.types[i], node.where);
    }
    return results;
  });
}

}  // namespace

Graph decompose(const Graph& g, const PassOptions&) {
  Graph out = decompose_once(g);
  for (int depth = 0; has_composite(out); ++depth) {
    STAX_CHECK(depth < 16, "operators decompose into themselves");
    out = decompose_once(out);
  }
  return out;
}

}  // namespace stax::passes
