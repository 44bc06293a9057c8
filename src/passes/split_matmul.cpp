#include "graph/op_def.h"
#include "passes/passes.h"

namespace stax::passes {

namespace {

using graph::Node;
using graph::Value;

// a · b as a sum over broadcast products, in the wider type that sums have; rounds or wraps once, at the end.
Value product_as_sum(Graph& to, const Node& node, const Value& a, const Value& b) {
  const auto add = [&](const char* op, std::vector<Value> operands, graph::Attributes attributes) {
    return to.add(op, std::move(operands), std::move(attributes), node.where);
  };
  const Value rows = add("unsqueeze", {a}, {{"axis", std::int64_t{-1}}});     // [batch…, m, k, 1]
  const Value columns = add("unsqueeze", {b}, {{"axis", std::int64_t{-3}}});  // [batch…, 1, k, n]
  const Value products = add("mul", {rows, columns}, {});
  const Value sum = add("sum", {products}, {{"axes", std::vector<std::int64_t>{-2}}});
  return add("cast", {sum}, {{"dtype", node.types[0].dtype}});
}

Value activated(Graph& to, const Node& node, const Value& v, const std::string& activation) {
  if (activation == "gelu_erf" || activation == "gelu_tanh")
    return to.add("gelu", {v}, {{"approximate", std::string(activation == "gelu_tanh" ? "tanh" : "none")}}, node.where);
  return to.add(activation, {v}, {}, node.where);
}

}  // namespace

Graph split_matmul_epilogues(const Graph& g, const PassOptions& options) {
  return graph::rewrite(g, [&](Graph& to, const Node& node, const std::vector<Value>& operands) -> std::vector<Value> {
    if (node.op->name != "matmul_fused" || !options.can_matmul) return {};
    const auto has = [&](std::size_t i) { return i < operands.size() && static_cast<bool>(operands[i]); };
    const std::string activation = std::get<std::string>(node.attributes.at("activation"));
    runtime::MatmulKind kind{node.types[0].dtype, runtime::parse_activation(activation).value(), has(2), has(3)};
    if (options.can_matmul(kind)) return {};
    // The last first: what is left is computed in the call.
    bool residual = has(3), bias = has(2), activates = activation != "none";
    kind.residual = false;
    const auto fits = [&] { return static_cast<bool>(options.can_matmul(kind)); };
    if (!fits()) kind.activation = runtime::Activation::none;
    if (!fits()) kind.bias = false;
    const bool library = fits();
    Value v;
    if (library) {
      graph::Attributes attributes = node.attributes;
      if (kind.activation == runtime::Activation::none) attributes["activation"] = std::string("none");
      std::vector<Value> taken{operands[0], operands[1]};
      if (kind.bias) taken.push_back(operands[2]);
      v = to.append(graph::op("matmul_fused"), std::move(taken), std::move(attributes), node.types, node.where)
              ->value();
      activates = activates && kind.activation == runtime::Activation::none;
      bias = bias && !kind.bias;
    } else {
      v = product_as_sum(to, node, operands[0], operands[1]);
      if (const double scale = std::get<double>(node.attributes.at("scale")); scale != 1.0)
        v = to.add("mul", {v, to.literal(scale)}, {}, node.where);
    }
    if (bias) v = to.add("add", {v, operands[2]}, {}, node.where);
    if (activates) v = activated(to, node, v, activation);
    if (residual) v = to.add("add", {v, operands[3]}, {}, node.where);
    return {v};
  });
}

}  // namespace stax::passes
