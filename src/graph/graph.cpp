#include "graph/graph.h"

#include <fmt/format.h>

#include <unordered_map>

#include "graph/op_def.h"

namespace stax::graph {

std::vector<Value> Graph::add_all(const OpDef& op, std::vector<Value> operands, Attributes attributes,
                                  SourceLoc where) {
  for (const Param& p : op.params) {
    if (p.default_value && !attributes.contains(p.name) && p.kind > ParamKind::operand)
      attributes.emplace(p.name, *p.default_value);
  }
  InferContext infer(op, operands, attributes, env(), where);
  std::vector<TensorType> types;
  Expr offset;
  try {
    if (op.build) {
      if (std::vector<Value> built = op.build(*this, infer); !built.empty()) return built;
    }
    if (op.is_view()) {
      ViewMap map = op.view(infer);
      offset = map.offset;
      const TensorType& base = operands.at(0).type();
      types.push_back(TensorType{base.dtype, base.device, std::move(map.sizes), std::move(map.strides), false});
    } else {
      types = op.infer(infer);
    }
  } catch (const UserError& e) {  // arithmetic on sizes does not know whose they are
    if (e.where().known() || !where.known()) throw;
    throw UserError(op.name + ": " + e.problem(), where, e.remedy());
  }
  Node* node = append(op, std::move(operands), std::move(attributes), std::move(types), std::move(where));
  node->view_offset = offset;
  std::vector<Value> results;
  for (std::size_t i = 0; i < node->types.size(); ++i) results.push_back(node->value(static_cast<int>(i)));
  return results;
}

Value Graph::add(const OpDef& op, std::vector<Value> operands, Attributes attributes, SourceLoc where) {
  return add_all(op, std::move(operands), std::move(attributes), std::move(where)).at(0);
}
Value Graph::add(std::string_view name, std::vector<Value> operands, Attributes attributes, SourceLoc where) {
  return add(graph::op(name), std::move(operands), std::move(attributes), std::move(where));
}
std::vector<Value> Graph::add_all(std::string_view name, std::vector<Value> operands, Attributes attributes,
                                  SourceLoc where) {
  return add_all(graph::op(name), std::move(operands), std::move(attributes), std::move(where));
}

Node* Graph::append(const OpDef& op, std::vector<Value> operands, Attributes attributes, std::vector<TensorType> types,
                    SourceLoc where) {
  storage_.push_back(
      Node{next_id_++, &op, std::move(operands), std::move(attributes), std::move(types), {}, std::move(where)});
  order_.push_back(&storage_.back());
  return order_.back();
}

Value Graph::add_input(std::string input_name, TensorType type, SourceLoc where) {
  Node* node = append(graph::op("input"), {}, {{"index", static_cast<std::int64_t>(inputs.size())}}, {std::move(type)},
                      std::move(where));
  inputs.push_back(node->value());
  input_names.push_back(std::move(input_name));
  return node->value();
}

namespace {
TensorType scalar_type(Dtype dtype) { return TensorType{dtype, {}, {}, {}, true}; }
}  // namespace

Value Graph::literal(bool v) {
  return append(graph::op("literal"), {}, {{"value", v}}, {scalar_type(Dtype::boolean)}, {})->value();
}
Value Graph::literal(std::int64_t v) {
  return append(graph::op("literal"), {}, {{"value", v}}, {scalar_type(Dtype::i64)}, {})->value();
}
Value Graph::literal(double v) {
  return append(graph::op("literal"), {}, {{"value", v}}, {scalar_type(Dtype::f64)}, {})->value();
}
Value Graph::size_value(Expr e) {
  if (auto c = e.constant()) return literal(*c);
  return append(graph::op("size"), {}, {{"value", e}}, {scalar_type(Dtype::i64)}, {})->value();
}

std::vector<Value> Graph::tensor_inputs() const {
  std::vector<Value> result;
  for (const Value& v : inputs)
    if (!v.type().scalar) result.push_back(v);
  return result;
}
std::vector<Value> Graph::scalar_inputs() const {
  std::vector<Value> result;
  for (const Value& v : inputs)
    if (v.type().scalar) result.push_back(v);
  return result;
}

Value viewed(Value v) {
  while (v.node->op->is_view()) v = v.node->operands[0];
  return v;
}

Graph rewrite(const Graph& from, const Rewriter& visit) {
  Graph to;
  to.share_env(from);
  to.name = from.name;
  to.input_names = from.input_names;
  to.output_inputs = from.output_inputs;
  std::unordered_map<const Node*, std::vector<Value>> map;
  auto mapped = [&](const Value& v) { return v ? map.at(v.node).at(static_cast<std::size_t>(v.result)) : Value{}; };
  for (const Value& v : from.inputs) {
    Node* node = to.append(*v.node->op, {}, v.node->attributes, v.node->types, v.node->where);
    map[v.node] = {node->value()};
    to.inputs.push_back(node->value());
  }
  for (const Node* node : from.nodes()) {
    if (map.contains(node)) continue;
    std::vector<Value> operands;
    for (const Value& v : node->operands) operands.push_back(mapped(v));
    std::vector<Value> results = visit ? visit(to, *node, operands) : std::vector<Value>{};
    if (results.empty()) {
      Node* copy = to.append(*node->op, std::move(operands), node->attributes, node->types, node->where);
      copy->view_offset = node->view_offset;
      for (std::size_t i = 0; i < copy->types.size(); ++i) results.push_back(copy->value(static_cast<int>(i)));
    }
    STAX_CHECK(results.size() == node->types.size(),
               fmt::format("a rewrite of {} gave {} results", node->op->name, results.size()));
    map[node] = std::move(results);
  }
  for (const Value& v : from.outputs) to.outputs.push_back(mapped(v));
  for (const Mutation& m : from.mutations) to.mutations.push_back({m.input, mapped(m.value)});
  return to;
}

}  // namespace stax::graph
