#include "levels.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "fusion/fusion.h"
#include "graph/interpret.h"
#include "inputs.h"
#include "passes/lower.h"
#include "runtime/cpu/caching_allocator.h"
#include "symbolic/analysis.h"

namespace stax::fuzz {

namespace {

std::span<const std::int64_t> span_of(const Dims& d) { return {d.data(), d.size()}; }

bool agree(const Array& actual, const Array& expected, std::span<const std::int64_t> at, const Facts& f) {
  if (!is_floating(actual.dtype())) return read_i64(actual, at) == read_i64(expected, at);
  const double a = read_f64(actual, at), e = read_f64(expected, at);
  if (std::isnan(a) || std::isnan(e)) return std::isnan(a) && std::isnan(e);
  if (f.exact) return a == e && std::signbit(a) == std::signbit(e);
  return a == e || std::fabs(a - e) <= 2 * f.error + 4 * epsilon(actual.dtype()) * std::fabs(e);
}

std::string compare(const Array& actual, const Array& expected, const Facts& f) {
  if (actual.dtype() != expected.dtype())
    return fmt::format("dtype {} instead of {}", to_text(actual.dtype()), to_text(expected.dtype()));
  if (actual.sizes() != expected.sizes())
    return fmt::format("shape {} instead of {}", to_string(span_of(actual.sizes())),
                       to_string(span_of(expected.sizes())));
  std::string text;
  int count = 0;
  for_each_index(span_of(actual.sizes()), [&](std::span<const std::int64_t> at) {
    if (agree(actual, expected, at, f) || ++count > 3) return;
    text += fmt::format("{}[{}] is {:.9g} ({:a}), not {:.9g} ({:a})", text.empty() ? "" : "; ", fmt::join(at, ", "),
                        read_f64(actual, at), read_f64(actual, at), read_f64(expected, at), read_f64(expected, at));
  });
  if (count > 3) text += fmt::format("; {} elements differ in all", count);
  if (!text.empty()) text += f.exact ? " (exact)" : fmt::format(" (bound {:.3g})", 2 * f.error);
  return text;
}

// Sets the elements of an array to zero bytes, so that what is left of its storage can be compared.
void blank(const Array& a) {
  const int bytes = byte_size(a.dtype());
  for_each_index(span_of(a.sizes()), [&](std::span<const std::int64_t> at) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < at.size(); ++d) offset += at[d] * a.strides()[d];
    std::memset(a.data_as<char>() + offset * bytes, 0, static_cast<std::size_t>(bytes));
  });
}

constexpr double kMostElements = 1 << 22;  // of a value at sizes that are only drawn

double largest_value(const graph::Graph& g, const symbolic::Lookup& value_of) {
  double most = 0;
  for (const graph::Node* n : g.nodes())
    for (const graph::TensorType& t : n->types) {
      double elements = 1;
      for (const symbolic::Expr s : t.sizes)
        elements *= static_cast<double>(symbolic::evaluate(s, value_of).value_or(0));
      most = std::max(most, elements);
    }
  return most;
}

}  // namespace

plan::ScalarValue scalar_value(const Array& a) {
  if (a.dtype() == Dtype::boolean) return plan::ScalarValue::of(*a.data_as<bool>());
  if (a.dtype() == Dtype::f64) return plan::ScalarValue::of(*a.data_as<double>());
  return plan::ScalarValue::of(*a.data_as<std::int64_t>());
}

Case::Case(const Recipe& r) : recipe_(r), graph_(build_graph(r)) {
  settings_.strict_numerics = r.strict;
  settings_.verify = true;
  for (const graph::Node* n : graph_.graph.nodes())
    for (const graph::TensorType& t : n->types) settings_.strict_numerics |= is_half(t.dtype);
  graph::verify(graph_.graph);
  sizes_.push_back(r.sizes);
  if (r.dynamic) (void)compiler::run_passes(graph_.graph, settings_);  // they decide too: the guards are complete now
  if (r.dynamic)
    for (const auto& other : r.other_sizes)
      if (sizes_.size() < 4 && serves(other)) sizes_.push_back(other);
}

symbolic::Lookup Case::lookup(const std::vector<Array>& inputs) const {
  std::unordered_map<Expr, std::int64_t> bound;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const graph::TensorType& t = graph_.graph.inputs[i].type();
    for (std::size_t d = 0; d < t.sizes.size(); ++d) {
      if (t.sizes[d].is_symbol()) bound.emplace(t.sizes[d], inputs[i].sizes()[d]);
      if (t.strides[d].is_symbol()) bound.emplace(t.strides[d], inputs[i].strides()[d]);
    }
  }
  return [bound](Expr s) -> std::optional<std::int64_t> {
    auto it = bound.find(s);
    return it == bound.end() ? s.info().hint : std::optional(it->second);
  };
}

std::vector<Array> Case::inputs(const std::vector<std::int64_t>& sizes) const {
  std::vector<Array> list;
  for (int i : graph_.inputs) list.push_back(make_input(recipe_.inputs[static_cast<std::size_t>(i)], sizes));
  return list;
}

bool Case::serves(const std::vector<std::int64_t>& sizes) const {
  const symbolic::Lookup value_of = lookup(inputs(sizes));
  if (largest_value(graph_.graph, value_of) > kMostElements) return false;
  try {
    for (const symbolic::Guard& g : graph_.graph.env().guards()) {
      const auto holds = symbolic::evaluate(g.condition, value_of);
      if (!holds || !*holds) return false;
    }
  } catch (const UserError&) {
    return false;  // a size that it divides by is 0: the guards of artifacts do not hold there either
  }
  return true;
}

loop::Program Case::lowered() const {
  loop::Program p = passes::lower(compiler::run_passes(graph_.graph, settings_), {});
  loop::verify(p);
  return p;
}

schedule::CpuTarget Case::target(int vector_bytes) const {
  Random r(recipe_.seed ^ 0x7f4a7c15u);
  schedule::CpuTarget t;
  static constexpr int kThreads[] = {1, 2, 2, 4, 7};
  t.threads = r.pick(kThreads);
  t.vector_bytes = vector_bytes;
  if (r.chance(40)) t.l1_bytes = 2048, t.l2_bytes = 8192, t.llc_bytes = 32768;
  return t;
}

loop::Program Case::fused(const schedule::CpuTarget& target) const {
  Random r(recipe_.seed ^ 0x94d049bbu);
  fusion::FusionOptions o = compiler::fusion_options(settings_, target);
  if (r.chance(50)) o.small_elements = r.chance(50) ? 0 : 64;
  if (r.chance(30)) o.parallel_units = 64;
  if (r.chance(20)) o.max_loads = 4, o.max_operations = 40, o.max_stores = 3;
  if (r.chance(30)) o.cheap_operations = r.chance(50) ? 0 : 60;
  loop::Program p = fusion::fuse(lowered(), o).program;
  loop::verify(p);
  compiler::normalise_kernels(p);
  loop::verify(p);
  return p;
}

Outcome Case::reference(const std::vector<std::int64_t>& sizes) const {
  Outcome out;
  out.inputs = inputs(sizes);
  out.outputs = graph::interpret(graph_.graph, out.inputs);
  return out;
}

Outcome Case::run(const loop::Program& p, const std::vector<std::int64_t>& sizes) const {
  Outcome out;
  out.inputs = inputs(sizes);
  loop::Bindings bindings;
  const symbolic::Lookup value_of = lookup(out.inputs);
  for (Expr s : p.sizes) bindings.sizes.push_back(value_of(s).value());
  for (std::size_t i = 0; i < out.inputs.size(); ++i) {
    const Array& a = out.inputs[i];
    if (!graph_.graph.inputs[i].type().scalar) {
      bindings.inputs.push_back(a);
      continue;
    }
    bindings.scalars_f64.push_back(read_f64(a, {}));
    bindings.scalars_i64.push_back(a.dtype() == Dtype::f64 ? 0 : read_i64(a, {}));
  }
  out.outputs = loop::interpret(p, bindings);
  return out;
}

Outcome Case::run(const plan::Executable& e, const std::vector<std::int64_t>& sizes, int poison) const {
  Outcome out;
  out.inputs = inputs(sizes);
  std::vector<const Array*> tensors;
  std::vector<plan::ScalarValue> scalars;
  for (std::size_t i = 0; i < out.inputs.size(); ++i) {
    if (graph_.graph.inputs[i].type().scalar)
      scalars.push_back(scalar_value(out.inputs[i]));
    else
      tensors.push_back(&out.inputs[i]);
  }
  const plan::CallArgs args{tensors, scalars};
  plan::GuardFailure why;
  if (!e.check(args, &why)) throw std::runtime_error("a guard refuses sizes that every decision allows: " + why.text);
  out.outputs.resize(graph_.graph.outputs.size());
  runtime::CachingAllocator::fill_allocations(poison);
  try {
    e.run(args, out.outputs);
  } catch (...) {
    runtime::CachingAllocator::fill_allocations(-1);
    throw;
  }
  runtime::CachingAllocator::fill_allocations(-1);
  return out;
}

bool Case::views_written(std::size_t output) const {
  const graph::Node* n = graph_.graph.outputs[output].node;
  while (n->op->is_view()) n = n->operands[0].node;
  for (const graph::Mutation& m : graph_.graph.mutations)
    if (graph_.graph.inputs[static_cast<std::size_t>(m.input)].node == n) return true;
  return false;
}

std::string Case::difference(const Outcome& actual, const Outcome& expected,
                             const std::vector<std::int64_t>& sizes) const {
  if (actual.outputs.size() != expected.outputs.size())
    return fmt::format("{} outputs instead of {}", actual.outputs.size(), expected.outputs.size());
  const symbolic::Lookup value_of = lookup(expected.inputs);
  for (std::size_t i = 0; i < actual.outputs.size(); ++i) {
    if (std::string text = compare(actual.outputs[i], expected.outputs[i], graph_.outputs[i]); !text.empty())
      return fmt::format("output {}: {}", i, text);
    // The copy of an output that viewed a written input is row-major.
    if (graph_.graph.output_input(i) < 0 && views_written(i)) continue;
    const graph::TensorType& t = graph_.graph.outputs[i].type();
    for (std::size_t d = 0; d < t.strides.size(); ++d)
      if (const auto s = symbolic::evaluate(t.strides[d], value_of); s && *s != actual.outputs[i].strides()[d])
        return fmt::format("output {}: stride {} instead of {} at axis {}", i, actual.outputs[i].strides()[d], *s, d);
  }
  std::vector<int> written(actual.inputs.size(), -1);
  for (std::size_t m = 0; m < graph_.graph.mutations.size(); ++m)
    written[static_cast<std::size_t>(graph_.graph.mutations[m].input)] = static_cast<int>(m);
  (void)sizes;
  for (std::size_t i = 0; i < actual.inputs.size(); ++i) {
    const Facts facts = written[i] < 0 ? Facts{} : graph_.writes[static_cast<std::size_t>(written[i])];
    const Array &a = actual.inputs[i], &e = expected.inputs[i];
    if (std::string text = compare(a, e, facts); !text.empty())
      return fmt::format("{}input {} afterwards: {}", written[i] < 0 ? "read-only " : "written ", i, text);
    const Array ca = deep_copy(a), ce = deep_copy(e);
    blank(ca), blank(ce);
    const std::size_t bytes = ca.storage()->bytes();
    if (bytes && std::memcmp(ca.storage()->data(), ce.storage()->data(), bytes) != 0)
      return fmt::format("input {}: memory between its elements was written", i);
  }
  return {};
}

std::string check_loops(const Case& c, int* calls) {
  std::string stage = "lower";
  try {
    const loop::Program lowered = c.lowered();
    stage = "fuse";
    const loop::Program fused = c.fused(c.target(64));
    for (const auto& sizes : c.sizes()) {
      const std::string at = fmt::format(" at sizes [{}]", fmt::join(sizes, ", "));
      stage = "reference" + at;
      const Outcome expected = c.reference(sizes);
      stage = "loops as lowered" + at;
      if (std::string text = c.difference(c.run(lowered, sizes), expected, sizes); !text.empty())
        return stage + ": " + text;
      stage = "fused loops" + at;
      if (std::string text = c.difference(c.run(fused, sizes), expected, sizes); !text.empty())
        return stage + ": " + text;
      if (calls) ++*calls;
    }
  } catch (const std::exception& e) {
    return stage + ": " + e.what();
  }
  return {};
}

}  // namespace stax::fuzz
