#include <fmt/format.h>
#include <stax/frontend/graph.h>

#include "frontend/core_impl.h"
#include "graph/interpret.h"
#include "ops/ops.h"

namespace stax::frontend {

TraceResult trace_call(const Leaves& leaves, const Runner& runner, const std::vector<std::vector<bool>>& dynamic,
                       bool fullgraph, const std::string& name) {
  ops::register_all();
  TraceResult result{std::make_unique<Trace>(fullgraph, name), {}};
  Trace& trace = *result.trace;
  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
  for (std::size_t i = 0; i < leaves.tensors.size(); ++i) {
    const Tensor& t = *leaves.tensors[i];
    if (!t.defined()) {
      tensors.emplace_back();
      continue;
    }
    tensors.push_back(
        trace.add_input({fmt::format("x{}", i), i < dynamic.size() ? dynamic[i] : std::vector<bool>{}}, t.array(), {}));
  }
  for (std::size_t i = 0; i < leaves.scalars.size(); ++i)
    scalars.push_back(trace.add_scalar(fmt::format("c{}", i), *leaves.scalars[i]));
  {
    Trace::Scope scope(trace);
    result.call = runner(tensors, scalars);
    trace.finish(result.call.results);
  }
  return result;
}

Graph trace_graph(const Leaves& leaves, const Runner& runner, const GraphOptions& options) {
  std::vector<std::vector<bool>> dynamic;
  for (const Tensor* t : leaves.tensors)
    dynamic.emplace_back(static_cast<std::size_t>(t->defined() ? t->rank() : 0), options.tracing == Tracing::symbolic);
  TraceResult traced = trace_call(leaves, runner, dynamic, true, "fn");
  if (!traced.trace->captured().empty())
    throw UserError(fmt::format("make_graph: the function captures {} tensors", traced.trace->captured().size()), {},
                    "Pass them as arguments");
  return Graph(traced.trace->shared_graph());
}

}  // namespace stax::frontend

namespace stax {

std::string to_text(const Graph& g) { return graph::to_text(g.impl()); }

Graph parse_graph(std::string_view text) {
  ops::register_all();
  return Graph(std::make_shared<const graph::Graph>(graph::parse_graph(text)));
}

std::vector<Tensor> interpret(const Graph& g, const std::vector<Tensor>& inputs) {
  const graph::Graph& graph = g.impl();
  std::vector<Array> arrays;
  for (const Tensor& t : inputs) arrays.push_back(t.to(cpu).array());
  std::vector<Tensor> outputs;
  for (Array& a : graph::interpret(graph, arrays)) {
    const Tensor result(std::move(a));
    outputs.push_back(result.to(graph.outputs[outputs.size()].type().device));
  }
  for (const graph::Mutation& m : graph.mutations) {
    const auto i = static_cast<std::size_t>(m.input);
    if (inputs[i].device() != cpu) Tensor(inputs[i]).copy_(Tensor(arrays[i]).to(inputs[i].device()));
  }
  return outputs;
}

}  // namespace stax
