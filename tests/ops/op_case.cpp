#include "op_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "graph/interpret.h"
#include "ops/ops.h"
#include "symbolic/analysis.h"

namespace stax::optest {

namespace {

using graph::Attribute;
using graph::TensorType;
using graph::Value;
using symbolic::Expr;

std::string attribute_text(const Attribute& a) {
  if (const auto* b = std::get_if<bool>(&a)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&a)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&a)) return fmt::format("{}", *d);
  if (const auto* s = std::get_if<std::string>(&a)) return *s;
  if (const auto* t = std::get_if<Dtype>(&a)) return std::string(to_text(*t));
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a)) return fmt::format("[{}]", fmt::join(*list, ", "));
  return "none";
}

}  // namespace

std::string OpCase::text() const {
  std::string text = fmt::format("{}[{}] ({}):", op->name, number, sample.note);
  for (std::size_t i = 0; i < sample.operands.size(); ++i) {
    const Array& a = sample.operands[i];
    if (!a.defined())
      text += " none";
    else if (is_scalar(i))
      text += fmt::format(" scalar {}={}", to_text(a.dtype()), read_f64(a, {}));
    else
      text += fmt::format(" {}{} strides {}", to_text(a.dtype()), to_string(a.sizes()), to_string(a.strides()));
  }
  for (const auto& [name, a] : sample.attributes) text += fmt::format("; {}={}", name, attribute_text(a));
  return text;
}

std::vector<OpCase> cases_of(const graph::OpDef& op) {
  std::vector<OpCase> cases;
  if (!op.samples) return cases;
  for (graph::Sample& s : op.samples()) cases.push_back({&op, std::move(s), cases.size()});
  return cases;
}

std::vector<const graph::OpDef*> tested_ops() {
  ops::register_all();
  std::vector<const graph::OpDef*> list;
  for (const graph::OpDef* op : graph::all_ops())
    if (op->name != "input" && op->name != "literal" && op->name != "size") list.push_back(op);
  return list;
}

namespace {

constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;

class Builder {
 public:
  Builder(CaseGraph& out, Sizes sizes) : out_(out), symbols_(sizes == Sizes::symbols) {}

  Value operand(const Array& a, bool scalar, std::size_t number) {
    graph::Graph& g = out_.graph;
    if (scalar && !symbols_) return literal(a);
    TensorType t{a.dtype(), scalar ? Device{} : a.device(), {}, {}, scalar};
    if (!scalar) {
      for (std::int64_t n : a.sizes()) t.sizes.push_back(size(n, number));
      t.strides = strides(a, t.sizes, number);
    }
    (scalar ? out_.scalars : out_.tensors).push_back(a);
    return g.add_input(fmt::format("x{}", number), std::move(t));
  }

  // Sizes given as numbers become the symbols that have that value.
  Attribute attribute(const graph::Param* p, const Attribute& a) {
    const auto* list = std::get_if<std::vector<std::int64_t>>(&a);
    if (!symbols_ || !p || p->kind != graph::ParamKind::dims || !list) return a;
    std::vector<Expr> sizes;
    for (std::int64_t n : *list) {
      const auto found = by_hint_.find(n);
      sizes.push_back(found == by_hint_.end() ? out_.graph.context().constant(n) : found->second);
    }
    return sizes;
  }

 private:
  Value literal(const Array& a) {
    if (a.dtype() == Dtype::boolean) return out_.graph.literal(*a.data_as<bool>());
    if (a.dtype() == Dtype::f64) return out_.graph.literal(*a.data_as<double>());
    return out_.graph.literal(*a.data_as<std::int64_t>());
  }

  Expr size(std::int64_t n, std::size_t number) {
    if (!symbols_ || n < 2) return out_.graph.context().constant(n);
    auto [it, fresh] = by_hint_.try_emplace(n);
    if (fresh) it->second = out_.graph.env().new_symbol(n, {2, kLargestSize}, fmt::format("x{}.size", number));
    return it->second;
  }

  // As expressions over the sizes where the axes are laid out as runs, else symbols.
  std::vector<Expr> strides(const Array& a, const std::vector<Expr>& sizes, std::size_t number) {
    symbolic::Context& context = out_.graph.context();
    std::vector<Expr> result(sizes.size());
    std::vector<std::size_t> order(sizes.size()), known;
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t x, std::size_t y) { return a.strides()[x] < a.strides()[y]; });
    for (std::size_t i : order) {
      const std::int64_t v = a.strides()[i];
      if (symbols_ && a.sizes()[i] > 1 && v != 0 && std::abs(v) != 1) {
        for (std::size_t k : known)
          if (v == a.sizes()[k] * a.strides()[k]) result[i] = sizes[k] * result[k];
        if (!result[i])
          result[i] = out_.graph.env().new_symbol(
              v, v > 0 ? symbolic::Range{1, kLargestSize} : symbolic::Range{-kLargestSize, kLargestSize},
              fmt::format("x{}.stride", number));
      } else {
        result[i] = context.constant(v);
      }
      if (a.sizes()[i] > 1 && v > 0) known.push_back(i);
    }
    return result;
  }

  CaseGraph& out_;
  bool symbols_;
  std::map<std::int64_t, Expr> by_hint_;
};

}  // namespace

CaseGraph build_graph(const OpCase& c, Sizes sizes) {
  CaseGraph out;
  out.graph.name = c.op->name;
  Builder builder(out, sizes);
  std::vector<Value> operands;
  for (std::size_t i = 0; i < c.sample.operands.size(); ++i)
    operands.push_back(c.sample.operands[i].defined() ? builder.operand(c.sample.operands[i], c.is_scalar(i), i)
                                                      : Value{});
  graph::Attributes attributes;
  for (const auto& [name, a] : c.sample.attributes) attributes[name] = builder.attribute(c.op->find_param(name), a);
  out.graph.outputs = out.graph.add_all(*c.op, operands, std::move(attributes));
  return out;
}

std::vector<plan::ScalarValue> CaseGraph::scalar_values() const {
  std::vector<plan::ScalarValue> values;
  for (const Array& a : scalars)
    values.push_back(a.dtype() == Dtype::boolean ? plan::ScalarValue::of(*a.data_as<bool>())
                     : a.dtype() == Dtype::f64   ? plan::ScalarValue::of(*a.data_as<double>())
                                                 : plan::ScalarValue::of(*a.data_as<std::int64_t>()));
  return values;
}

std::vector<const Array*> CaseGraph::tensor_pointers() const {
  std::vector<const Array*> pointers;
  for (const Array& a : tensors) pointers.push_back(&a);
  return pointers;
}

std::vector<Array> reference(const OpCase& c) {
  return graph::evaluate_op(*c.op, c.sample.operands, c.sample.scalars, c.sample.attributes);
}

std::vector<Array> run_loops(const loop::Program& p, const CaseGraph& g) {
  loop::Bindings bindings;
  for (Expr s : p.sizes) bindings.sizes.push_back(symbolic::hint_of(s).value());
  bindings.inputs = g.tensors;
  for (const Array& a : g.scalars) {
    bindings.scalars_f64.push_back(read_f64(a, {}));
    bindings.scalars_i64.push_back(a.dtype() == Dtype::f64 ? 0 : read_i64(a, {}));
  }
  return loop::interpret(p, bindings);
}

namespace {

const char* element(const Array& a, std::span<const std::int64_t> index) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * a.strides()[d];
  return a.data_as<char>() + at * byte_size(a.dtype());
}

bool equal_elements(const Array& actual, const Array& expected, std::span<const std::int64_t> index, double tolerance) {
  const auto bytes = static_cast<std::size_t>(byte_size(actual.dtype()));
  if (std::memcmp(element(actual, index), element(expected, index), bytes) == 0) return true;
  if (!is_floating(actual.dtype())) {
    const double a = read_f64(actual, index), e = read_f64(expected, index);
    return tolerance > 0 && std::fabs(a - e) <= tolerance * (1 + std::fabs(e));
  }
  const double a = read_f64(actual, index), e = read_f64(expected, index);
  if (std::isnan(e) || std::isnan(a)) return std::isnan(e) && std::isnan(a);
  if (tolerance == 0) return false;
  return a == e || (std::isfinite(a) && std::isfinite(e) && std::fabs(a - e) <= tolerance * (1 + std::fabs(e)));
}

}  // namespace

std::string difference(const Array& actual, const Array& expected, double tolerance) {
  if (actual.dtype() != expected.dtype())
    return fmt::format("dtype {} instead of {}", to_text(actual.dtype()), to_text(expected.dtype()));
  if (actual.sizes() != expected.sizes())
    return fmt::format("shape {} instead of {}", to_string(actual.sizes()), to_string(expected.sizes()));
  if (actual.strides() != expected.strides())
    return fmt::format("strides {} instead of {} at shape {}", to_string(actual.strides()),
                       to_string(expected.strides()), to_string(actual.sizes()));
  std::string text;
  int count = 0;
  for_each_index(std::span(actual.sizes().data(), actual.sizes().size()), [&](std::span<const std::int64_t> index) {
    if (equal_elements(actual, expected, index, tolerance) || ++count > 3) return;
    text += fmt::format("{}[{}] is {:.9g} ({:a}), not {:.9g} ({:a})", text.empty() ? "" : "; ", fmt::join(index, ", "),
                        read_f64(actual, index), read_f64(actual, index), read_f64(expected, index),
                        read_f64(expected, index));
  });
  if (count > 3) text += fmt::format("; {} elements differ in all", count);
  return text;
}

std::string difference(const std::vector<Array>& actual, const std::vector<Array>& expected, double tolerance) {
  if (actual.size() != expected.size()) return fmt::format("{} results instead of {}", actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (std::string text = difference(actual[i], expected[i], tolerance); !text.empty())
      return actual.size() == 1 ? text : fmt::format("result {}: {}", i, text);
  return {};
}

}  // namespace stax::optest
