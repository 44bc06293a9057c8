#include <unordered_map>

#include "graph/op_def.h"
#include "loop/ir.h"
#include "passes/passes.h"

namespace stax::passes {

namespace {

using graph::Attributes;
using graph::Node;
using graph::TensorType;
using graph::Value;

std::unordered_map<const Node*, int> count_uses(const Graph& g) {
  std::unordered_map<const Node*, int> uses;
  for (const Node* n : g.nodes())
    for (const Value& v : n->operands)
      if (v) ++uses[v.node];
  for (const Value& v : g.outputs) ++uses[v.node];
  for (const graph::Mutation& m : g.mutations) ++uses[m.value.node];
  return uses;
}

std::string activation_of(const Node& node) {
  const std::string& op = node.op->name;
  if (op == "gelu")
    return std::get<std::string>(node.attributes.at("approximate")) == "tanh" ? "gelu_tanh" : "gelu_erf";
  if (op == "relu" || op == "silu" || op == "sigmoid" || op == "tanh") return op;
  return "";
}

// One product as far as it has been extended: all in the rewritten graph.
struct Call {
  std::vector<Value> operands;  // a, b, bias, residual
  Attributes attributes;
  bool has_bias() const { return static_cast<bool>(operands[2]); }
  bool has_residual() const { return static_cast<bool>(operands[3]); }
  bool activated() const { return std::get<std::string>(attributes.at("activation")) != "none"; }
};

runtime::MatmulKind kind_of(const Call& c) {
  return {c.operands[0].type().dtype,
          runtime::parse_activation(std::get<std::string>(c.attributes.at("activation"))).value(), c.has_bias(),
          c.has_residual()};
}

Call call_of(const Node& n) {
  Call c{n.operands, n.attributes};
  c.operands.resize(4);
  return c;
}

}  // namespace

Graph fuse_matmul_epilogues(const Graph& g, const PassOptions& options) {
  const auto uses = count_uses(g);
  std::unordered_map<const Node*, const Node*> source;  // node of the new graph → node of the old one
  return graph::rewrite(g, [&](Graph& to, const Node& node, const std::vector<Value>& operands) -> std::vector<Value> {
    auto emit = [&](const Call& c) -> std::vector<Value> {
      Node* n = to.append(graph::op("matmul_fused"), c.operands, c.attributes, node.types, node.where);
      source[n] = &node;
      return {n->value()};
    };
    if (node.op->name == "matmul_fused") {
      Call c{operands, node.attributes};
      c.operands.resize(4);
      return emit(c);
    }
    auto can = [&](const Call& c) { return !options.can_matmul || options.can_matmul(kind_of(c)); };
    // A product that only this node reads, of the result's own type.
    auto product = [&](const Value& v) -> const Node* {
      if (!v || v.node->op->name != "matmul_fused" || !source.contains(v.node)) return nullptr;
      const TensorType& t = v.type();
      if (!is_floating(t.dtype) || (options.strict_numerics && is_half(t.dtype))) return nullptr;
      if (uses.at(source.at(v.node)) != 1 || t != node.types[0]) return nullptr;
      return v.node;
    };
    if (std::string activation = activation_of(node); !activation.empty()) {
      const Node* p = product(operands[0]);
      if (!p) return {};
      Call c = call_of(*p);
      if (c.activated() || c.has_residual()) return {};
      c.attributes["activation"] = activation;
      if (!can(c)) return {};
      return emit(c);
    }
    if (node.op->name != "add") return {};
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      const Node* p = product(operands[side]);
      const Value other = operands[1 - side];
      if (!p || other.type().scalar || other.type().dtype != node.types[0].dtype) continue;
      Call c = call_of(*p);
      if (!c.activated() && !c.has_bias() && !c.has_residual() && other.type().rank() == 1 &&
          other.type().sizes[0] == node.types[0].sizes.back()) {
        c.operands[2] = other;
        if (can(c)) return emit(c);
        c.operands[2] = {};
      }
      if (!c.has_residual() && other.type().sizes == node.types[0].sizes) {
        c.operands[3] = other;
        if (can(c)) return emit(c);
      }
    }
    return {};
  });
}

}  // namespace stax::passes
