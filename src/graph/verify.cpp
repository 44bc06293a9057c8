#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "graph/interpret.h"

namespace stax::graph {

namespace {

[[noreturn]] void bad(const Graph& g, const Node& node, std::string_view what) {
  throw InternalError(fmt::format("graph @{}: %{} = {}: {}", g.name, node.id, node.op->name, what));
}

bool same_sizes(const symbolic::ShapeEnv& env, const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && !env.is_always(eq(a[i], b[i]))) return false;
  return true;
}

}  // namespace

std::string operand_problem(const Node& node) {
  std::size_t next = 0;
  for (const Param& p : node.op->params) {
    if (p.kind > ParamKind::operand) continue;
    const bool list = p.kind == ParamKind::tensor_list;
    do {
      const bool present = next < node.operands.size() && node.operands[next];
      if (!present && !p.default_value && p.kind != ParamKind::optional_tensor && !(list && next > 0))
        return fmt::format("the operand '{}' is missing", p.name);
      if (node.op->is_view() && node.operands[next].type().scalar)
        return fmt::format("the operand '{}' is a number, which has no memory to view", p.name);
      ++next;
    } while (list && next < node.operands.size());
  }
  if (next < node.operands.size()) return fmt::format("{} operands where {} are taken", node.operands.size(), next);
  return "";
}

std::string type_problem(const Graph& g, const Node& node) {
  if (node.op->name == "input" || node.op->name == "literal" || node.op->name == "size") return "";
  if (std::string problem = operand_problem(node); !problem.empty()) return problem;
  InferContext infer(*node.op, node.operands, node.attributes, g.env(), node.where);
  std::vector<TensorType> types;
  if (node.op->is_view()) {
    ViewMap map = node.op->view(infer);
    const TensorType& base = node.operands.at(0).type();
    types.push_back(TensorType{base.dtype, base.device, map.sizes, map.strides, false});
    if (!node.view_offset || (node.view_offset != map.offset && !g.env().is_always(eq(node.view_offset, map.offset))))
      return "its view offset is not the inferred one";
  } else {
    types = node.op->infer(infer);
  }
  if (types.size() != node.types.size()) return "its number of results is not the inferred one";
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].dtype != node.types[i].dtype)
      return fmt::format("its dtype is {}, inferred {}", to_string(node.types[i].dtype), to_string(types[i].dtype));
    if (!same_sizes(g.env(), types[i].sizes, node.types[i].sizes))
      return fmt::format("its sizes are {}, inferred {}", shape_text(node.types[i].sizes), shape_text(types[i].sizes));
    // Guards that came after the node may tell more about the axis order of its operands.
    const bool may_differ = !node.op->is_view() && !g.env().guards().empty();
    if (!may_differ && !same_sizes(g.env(), types[i].strides, node.types[i].strides))
      return fmt::format("its strides are {}, inferred {}", shape_text(node.types[i].strides),
                         shape_text(types[i].strides));
  }
  return "";
}

void verify(const Graph& g) {
  std::unordered_set<const Node*> seen;
  const std::size_t guards = g.env().guards().size();
  for (const Node* node : g.nodes()) {
    for (const Value& v : node->operands) {
      if (!v) continue;
      if (!seen.contains(v.node))
        bad(g, *node, fmt::format("its operand %{} comes later or from another graph", v.node->id));
      if (v.result < 0 || static_cast<std::size_t>(v.result) >= v.node->types.size())
        bad(g, *node, "an operand names a result that does not exist");
    }
    for (const TensorType& t : node->types)
      if (t.sizes.size() != t.strides.size()) bad(g, *node, "sizes and strides differ in length");
    if (const std::string problem = type_problem(g, *node); !problem.empty()) bad(g, *node, problem);
    seen.insert(node);
  }
  STAX_CHECK(g.inputs.size() == g.input_names.size(), "every input has a name");
  for (const Value& v : g.outputs)
    STAX_CHECK(v && seen.contains(v.node) && !v.type().scalar,
               "graph @" + g.name + ": an output is not a tensor of the graph");
  for (const Mutation& m : g.mutations) {
    STAX_CHECK(m.value && seen.contains(m.value.node), "graph @" + g.name + ": a written value is not in the graph");
    STAX_CHECK(m.input >= 0 && static_cast<std::size_t>(m.input) < g.inputs.size(),
               "graph @" + g.name + ": a written input does not exist");
    const TensorType& input = g.inputs[static_cast<std::size_t>(m.input)].type();
    STAX_CHECK(input.dtype == m.value.type().dtype && same_sizes(g.env(), input.sizes, m.value.type().sizes),
               "graph @" + g.name + ": a written value has another dtype or shape than its input");
  }
  for (std::size_t i = 0; i < g.outputs.size(); ++i) {
    const int input = g.output_input(i);
    if (input < 0) continue;
    STAX_CHECK(
        viewed(g.outputs[i]) == g.inputs.at(static_cast<std::size_t>(input)) &&
            std::any_of(g.mutations.begin(), g.mutations.end(), [&](const Mutation& m) { return m.input == input; }),
        fmt::format("graph @{}: output {} is not the memory of a written input", g.name, i));
  }
  STAX_CHECK(g.env().guards().size() == guards,
             "graph @" + g.name + ": verifying needed a new guard: inference is not idempotent");
}

}  // namespace stax::graph
