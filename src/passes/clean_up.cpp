#include "graph/op_def.h"
#include "passes/passes.h"

namespace stax::passes {

namespace {

using graph::Node;
using graph::TensorType;
using graph::Value;

std::optional<double> literal_of(const Value& v) {
  if (!v || v.node->op->name != "literal") return std::nullopt;
  const graph::Attribute& a = v.node->attributes.at("value");
  if (const auto* d = std::get_if<double>(&a)) return *d;
  if (const auto* i = std::get_if<std::int64_t>(&a)) return static_cast<double>(*i);
  return std::nullopt;
}

bool holds_exactly(Dtype narrow, Dtype wide) {
  if (narrow == wide || narrow == Dtype::boolean) return true;
  if (is_floating(narrow) && is_floating(wide)) return byte_size(wide) > byte_size(narrow);
  if (is_floating(narrow) || narrow == Dtype::i64) return false;
  if (!is_floating(wide)) return byte_size(wide) > byte_size(narrow) && wide != Dtype::boolean && wide != Dtype::u8;
  return wide == Dtype::f64 ? byte_size(narrow) <= 4 : wide == Dtype::f32 && byte_size(narrow) <= 2;
}

// The operand that the node gives back unchanged, in the rewritten graph; null when it does something.
Value identity_of(const Node& node, const std::vector<Value>& x) {
  const std::string& op = node.op->name;
  const bool integers = !is_floating(node.types[0].dtype);
  if (op == "mul" || op == "div" || op == "trunc_divide" || op == "floor_divide") {
    if (literal_of(x[1]) == 1.0 && (op == "mul" || op == "div" || integers)) return x[0];
    if (op == "mul" && literal_of(x[0]) == 1.0) return x[1];
  }
  if (op == "add" && integers) {
    if (literal_of(x[1]) == 0.0) return x[0];
    if (literal_of(x[0]) == 0.0) return x[1];
  }
  if (op == "sub" && literal_of(x[1]) == 0.0 && integers) return x[0];
  if (op == "neg" && x[0].node->op->name == "neg") return x[0].node->operands[0];
  if (op == "cast" && x[0].node->op->name == "cast") {
    const Value inner = x[0].node->operands[0];
    if (inner.type().dtype == node.types[0].dtype && holds_exactly(inner.type().dtype, x[0].type().dtype)) return inner;
  }
  if ((op == "contiguous" || op == "clone") && (x[0].node->op->name == "contiguous" || x[0].node->op->name == "clone"))
    return x[0];
  return {};
}

}  // namespace

Graph clean_up(const Graph& g, const PassOptions&) {
  return graph::rewrite(g, [](Graph&, const Node& node, const std::vector<Value>& operands) -> std::vector<Value> {
    if (operands.empty() || !operands[0]) return {};
    const Value same = identity_of(node, operands);
    // The replacement must be the very same tensor: an operator that promotes, broadcasts or changes the layout stays.
    if (!same || same.type() != node.types[0]) return {};
    return {same};
  });
}

}  // namespace stax::passes
