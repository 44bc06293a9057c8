#include <unordered_set>

#include "graph/op_def.h"
#include "passes/passes.h"

namespace stax::passes {

Graph eliminate_dead_code(const Graph& g, const PassOptions&) {
  std::unordered_set<const graph::Node*> live;
  std::vector<const graph::Node*> work;
  auto need = [&](const graph::Value& v) {
    if (v && live.insert(v.node).second) work.push_back(v.node);
  };
  for (const graph::Value& v : g.outputs) need(v);
  for (const graph::Mutation& m : g.mutations) need(m.value);
  for (const graph::Value& v : g.inputs) need(v);
  while (!work.empty()) {
    const graph::Node* n = work.back();
    work.pop_back();
    for (const graph::Value& v : n->operands) need(v);
  }
  Graph out = graph::rewrite(g, nullptr);
  // `rewrite` keeps the order: drop by position.
  std::vector<graph::Node*> kept;
  std::vector<const graph::Node*> from;
  for (const graph::Value& v : g.inputs) from.push_back(v.node);
  for (const graph::Node* n : g.nodes())
    if (std::find(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(g.inputs.size()), n) ==
        from.begin() + static_cast<std::ptrdiff_t>(g.inputs.size()))
      from.push_back(n);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (live.contains(from[i])) kept.push_back(out.nodes()[i]);
  out.set_nodes(std::move(kept));
  return out;
}

}  // namespace stax::passes
