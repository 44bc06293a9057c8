#include <fmt/format.h>

#include <unordered_map>

#include "graph/interpret.h"
#include "symbolic/analysis.h"

namespace stax::graph {

std::vector<std::int64_t> EvalContext::dims(std::string_view name) const {
  std::vector<std::int64_t> result;
  for (Expr e : attributes_.dims(name)) result.push_back(e.constant().value());
  return result;
}

std::vector<std::int64_t> EvalContext::result_sizes(std::size_t i) const {
  std::vector<std::int64_t> result;
  for (Expr e : node_.types[i].sizes) result.push_back(e.constant().value());
  return result;
}

Array EvalContext::make_result(std::size_t i) const {
  Layout layout;
  for (Expr e : node_.types[i].sizes) layout.sizes.push_back(e.constant().value());
  Array a = Array::empty(std::span(layout.sizes.data(), layout.sizes.size()), node_.types[i].dtype);
  for (Expr e : node_.types[i].strides) layout.strides.push_back(e.constant().value());
  return a.with_layout(std::move(layout));
}

Array broadcast_to(const Array& a, std::span<const std::int64_t> sizes) {
  Layout layout{Dims(sizes.begin(), sizes.end()), Dims(sizes.size(), 0), a.offset()};
  const std::size_t skip = sizes.size() - a.sizes().size();
  for (std::size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] != 1) layout.strides[d + skip] = a.strides()[d];
    STAX_CHECK(a.sizes()[d] == 1 || a.sizes()[d] == sizes[d + skip], "broadcast_to: sizes do not fit");
  }
  return a.with_layout(std::move(layout));
}

namespace {

TensorType concrete_type(symbolic::Context& context, const Array& a, bool scalar) {
  TensorType t{a.dtype(), scalar ? Device{} : a.device(), {}, {}, scalar};
  for (std::int64_t s : a.sizes()) t.sizes.push_back(context.constant(s));
  for (std::int64_t s : a.strides()) t.strides.push_back(context.constant(s));
  return t;
}

Array view_of(const Node& node, const Array& base) {
  const TensorType& t = node.types[0];
  Layout layout;
  for (Expr e : t.sizes) layout.sizes.push_back(e.constant().value());
  for (Expr e : t.strides) layout.strides.push_back(e.constant().value());
  layout.offset = base.offset() + node.view_offset.constant().value();
  return base.with_layout(std::move(layout));
}

Array literal_array(const Attribute& value) {
  if (const auto* b = std::get_if<bool>(&value)) {
    Array a = Array::empty({}, Dtype::boolean);
    *a.data_as<bool>() = *b;
    return a;
  }
  if (const auto* d = std::get_if<double>(&value)) {
    Array a = Array::empty({}, Dtype::f64);
    *a.data_as<double>() = *d;
    return a;
  }
  Array a = Array::empty({}, Dtype::i64);
  const auto* e = std::get_if<Expr>(&value);
  *a.data_as<std::int64_t>() = e ? e->constant().value() : std::get<std::int64_t>(value);
  return a;
}

// Values of a graph whose sizes are constants; `values` holds the inputs.
using Values = std::unordered_map<const Node*, std::vector<Array>>;
void run_concrete(const Graph& g, Values& values) {
  for (const Node* node : g.nodes()) {
    if (values.contains(node)) continue;
    if (node->op->name == "literal" || node->op->name == "size") {
      values[node] = {literal_array(node->attributes.at("value"))};
      continue;
    }
    std::vector<Array> operands;
    for (const Value& v : node->operands)
      operands.push_back(v ? values.at(v.node).at(static_cast<std::size_t>(v.result)) : Array{});
    if (node->op->is_view()) {
      values[node] = {view_of(*node, operands[0])};
    } else if (node->op->evaluate) {
      InferContext attributes(*node->op, node->operands, node->attributes, g.env(), node->where);
      EvalContext eval(*node, std::move(operands), attributes);
      values[node] = node->op->evaluate(eval);
      STAX_CHECK(values[node].size() == node->types.size(),
                 node->op->name + ": reference evaluation gave another number of results");
    } else {
      std::vector<bool> scalars;
      for (const Value& v : node->operands) scalars.push_back(v && v.type().scalar);
      Graph inner;
      inner.env();
      std::vector<Value> inputs;
      Values inner_values;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!operands[i].defined()) {
          inputs.push_back({});
          continue;
        }
        inputs.push_back(
            inner.add_input(fmt::format("x{}", i), concrete_type(inner.context(), operands[i], scalars[i])));
        inner_values[inputs.back().node] = {operands[i]};
      }
      Node copy = *node;
      for (auto& [name, a] : copy.attributes) {
        auto number = [&](Expr e) { return inner.context().constant(e.constant().value()); };
        if (auto* e = std::get_if<Expr>(&a)) *e = number(*e);
        if (auto* list = std::get_if<std::vector<Expr>>(&a))
          for (Expr& e : *list) e = number(e);
      }
      for (TensorType& t : copy.types) {
        for (Expr& e : t.sizes) e = inner.context().constant(e.constant().value());
        for (Expr& e : t.strides) e = inner.context().constant(e.constant().value());
      }
      copy.operands = inputs;
      STAX_CHECK(static_cast<bool>(node->op->decompose),
                 node->op->name + " has neither reference evaluation nor decomposition");
      std::vector<Value> results = node->op->decompose(inner, copy, inputs);
      run_concrete(inner, inner_values);
      std::vector<Array>& out = values[node];
      for (const Value& v : results) out.push_back(inner_values.at(v.node).at(static_cast<std::size_t>(v.result)));
    }
  }
}

Attributes concrete_attributes(const Attributes& attributes, const symbolic::Lookup& sizes) {
  Attributes result = attributes;
  for (auto& [name, a] : result) {
    if (const auto* e = std::get_if<Expr>(&a)) {
      a = symbolic::evaluate(*e, sizes).value();
    } else if (const auto* list = std::get_if<std::vector<Expr>>(&a)) {
      std::vector<std::int64_t> numbers;
      for (Expr e2 : *list) numbers.push_back(symbolic::evaluate(e2, sizes).value());
      a = std::move(numbers);
    }
  }
  return result;
}

}  // namespace

std::vector<Array> evaluate_op(const OpDef& op, std::span<const Array> operands, const std::vector<bool>& scalars,
                               const Attributes& attributes, const SourceLoc& where) {
  Graph g;
  std::vector<Value> inputs;
  Values values;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].defined()) {
      inputs.push_back({});
      continue;
    }
    inputs.push_back(
        g.add_input(fmt::format("x{}", i), concrete_type(g.context(), operands[i], i < scalars.size() && scalars[i])));
    values[inputs.back().node] = {operands[i]};
  }
  const std::vector<Value> results = g.add_all(op, inputs, attributes, where);
  run_concrete(g, values);
  std::vector<Array> out;
  for (const Value& v : results) out.push_back(values.at(v.node).at(static_cast<std::size_t>(v.result)));
  return out;
}

namespace {
// In the layout of the graph's own types: numbers alone may show an axis order that no expression proves.
Array laid_out(const Array& a, const TensorType& t, const symbolic::Lookup& sizes) {
  Layout layout{a.sizes(), {}, 0};
  for (Expr e : t.strides) {
    const auto stride = symbolic::evaluate(e, sizes);
    if (!stride) return a;
    layout.strides.push_back(*stride);
  }
  if (layout.strides == a.strides()) return a;
  const std::int64_t room = extent_of(layout).second + 1;
  const Array copy = Array::empty({room}, a.dtype()).with_layout(std::move(layout));
  copy_elements(a, copy);
  return copy;
}
}  // namespace

std::vector<Array> interpret(const Graph& g, std::span<const Array> inputs) {
  if (inputs.size() != g.inputs.size())
    throw UserError(fmt::format("{} takes {} inputs, {} were given", g.name, g.inputs.size(), inputs.size()));
  std::unordered_map<Expr, std::int64_t> bound;
  const symbolic::Lookup lookup = [&](Expr s) -> std::optional<std::int64_t> {
    auto it = bound.find(s);
    return it == bound.end() ? std::nullopt : std::optional(it->second);
  };
  Values values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& t = g.inputs[i].type();
    const Array& a = inputs[i];
    if (a.dtype() != t.dtype)
      throw UserError(fmt::format("{}: input {} is {}, expected {}", g.name, g.input_names[i], to_string(a.dtype()),
                                  to_string(t.dtype)));
    if (a.rank() != t.rank())
      throw UserError(
          fmt::format("{}: input {} has rank {}, expected {}", g.name, g.input_names[i], a.rank(), t.rank()));
    for (int d = 0; d < t.rank(); ++d) {
      const auto axis = static_cast<std::size_t>(d);
      if (t.sizes[axis].is_symbol()) bound.emplace(t.sizes[axis], a.size(d));
      if (t.strides[axis].is_symbol()) bound.emplace(t.strides[axis], a.strides()[axis]);
    }
    values[g.inputs[i].node] = {a};
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& t = g.inputs[i].type();
    for (int d = 0; d < t.rank(); ++d) {
      auto expected = symbolic::evaluate(t.sizes[static_cast<std::size_t>(d)], lookup);
      if (!expected || *expected != inputs[i].size(d))
        throw UserError(fmt::format("{}: size {} of axis {} of input {} is not {}", g.name, inputs[i].size(d), d,
                                    g.input_names[i], symbolic::to_string(t.sizes[static_cast<std::size_t>(d)])));
    }
  }
  for (const Node* node : g.nodes()) {
    if (values.contains(node)) continue;
    if (node->op->name == "literal") {
      values[node] = {literal_array(node->attributes.at("value"))};
      continue;
    }
    if (node->op->name == "size") {
      values[node] = {literal_array(concrete_attributes(node->attributes, lookup).at("value"))};
      continue;
    }
    std::vector<Array> operands;
    std::vector<bool> scalars;
    for (const Value& v : node->operands) {
      operands.push_back(v ? values.at(v.node).at(static_cast<std::size_t>(v.result)) : Array{});
      scalars.push_back(v && v.type().scalar);
    }
    values[node] =
        evaluate_op(*node->op, operands, scalars, concrete_attributes(node->attributes, lookup), node->where);
    if (!node->op->is_view())
      for (std::size_t i = 0; i < node->types.size(); ++i)
        values[node][i] = laid_out(values[node][i], node->types[i], lookup);
  }
  std::vector<Array> outputs;
  for (const Value& v : g.outputs) outputs.push_back(values.at(v.node).at(static_cast<std::size_t>(v.result)));
  // Everything is computed before anything is written; an output that is not said to be a
  // written input's memory keeps the old contents.
  for (const Mutation& m : g.mutations)
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (g.output_input(i) < 0 && outputs[i].storage() == inputs[static_cast<std::size_t>(m.input)].storage())
        outputs[i] = contiguous_copy(outputs[i]);
  std::vector<Array> written;
  for (const Mutation& m : g.mutations)
    written.push_back(contiguous_copy(values.at(m.value.node).at(static_cast<std::size_t>(m.value.result))));
  for (std::size_t i = 0; i < written.size(); ++i) {
    const Array& target = inputs[static_cast<std::size_t>(g.mutations[i].input)];
    copy_elements(written[i], target);
    target.storage()->bump_version();
  }
  return outputs;
}

}  // namespace stax::graph
