#include <algorithm>

#include "graph/interpret.h"
#include "passes/passes.h"

namespace stax::passes {

namespace {

using graph::Attribute;
using graph::Node;
using graph::Value;

// The known scalar behind a literal or a `full` of one, as a rank-0 array of its dtype.
std::optional<Array> known_scalar(const Value& v) {
  if (v.node->op->name == "full") {
    auto inner = known_scalar(v.node->operands[0]);
    return inner ? std::optional(cast_copy(*inner, v.type().dtype)) : std::nullopt;
  }
  if (v.node->op->name != "literal") return std::nullopt;
  Array a = Array::empty({}, v.type().dtype);
  const Attribute& value = v.node->attributes.at("value");
  if (const auto* d = std::get_if<double>(&value))
    *a.data_as<double>() = *d;
  else if (const auto* i = std::get_if<std::int64_t>(&value))
    *a.data_as<std::int64_t>() = *i;
  else
    *a.data_as<bool>() = std::get<bool>(value);
  return a;
}

// Operators whose every element depends on the same element of the operands only, with cheap exact evaluation.
bool is_foldable(const std::string& op) {
  static const char* const kOps[] = {
      "add",        "sub",         "mul",          "div",       "maximum",      "minimum",   "neg",
      "abs",        "cast",        "eq",           "ne",        "lt",           "le",        "gt",
      "ge",         "where",       "floor_divide", "floor_mod", "trunc_divide", "trunc_mod", "logical_and",
      "logical_or", "logical_xor", "logical_not",  "relu",      "clamp",        "sign",      "sqrt"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

}  // namespace

Graph fold_constants(const Graph& g, const PassOptions&) {
  return graph::rewrite(g, [&](Graph& to, const Node& node, const std::vector<Value>& operands) -> std::vector<Value> {
    if (!is_foldable(node.op->name) || operands.empty()) return {};
    std::vector<Array> values;
    std::vector<bool> scalars;
    for (const Value& v : operands) {
      if (!v) {
        values.emplace_back();
        scalars.push_back(false);
        continue;
      }
      auto known = known_scalar(v);
      if (!known) return {};
      values.push_back(*known);
      scalars.push_back(v.type().scalar);
    }
    std::vector<Array> result;
    try {
      result = graph::evaluate_op(*node.op, values, scalars, node.attributes, node.where);
    } catch (const UserError&) {
      return {};  // an error of evaluation (division by zero) belongs to the run
    }
    if (result[0].dtype() != node.types[0].dtype) return {};
    Value literal = is_floating(result[0].dtype())        ? to.literal(read_f64(result[0], {}))
                    : result[0].dtype() == Dtype::boolean ? to.literal(read_i64(result[0], {}) != 0)
                                                          : to.literal(read_i64(result[0], {}));
    Node* full = to.append(graph::op("full"), {literal},
                           {{"sizes", node.types[0].sizes},
                            {"dtype", node.types[0].dtype},
                            {"device", stax::to_string(node.types[0].device)}},
                           node.types, node.where);
    return {full->value()};
  });
}

}  // namespace stax::passes
