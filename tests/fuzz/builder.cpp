#include <fmt/format.h>

#include <algorithm>

#include "graph/op_def.h"
#include "inputs.h"
#include "ops/ops.h"
#include "steps.h"
#include "symbolic/analysis.h"

namespace stax::fuzz {

namespace {
constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;
constexpr double kLargestRerun = 40;  // no size of Recipe::other_sizes is larger
constexpr double kMostElements = 60000;
constexpr int kNeighbours = 6;  // values that partner() looks at
}  // namespace

double epsilon(Dtype t) {
  switch (t) {
    case Dtype::f16:
      return 0x1p-11;
    case Dtype::bf16:
      return 0x1p-8;
    case Dtype::f32:
      return 0x1p-24;
    case Dtype::f64:
      return 0x1p-53;
    default:
      return 0;
  }
}

double exact_limit(Dtype t) { return is_floating(t) ? 1 / epsilon(t) : largest(t); }

double largest(Dtype t) {
  switch (t) {
    case Dtype::boolean:
      return 1;
    case Dtype::f16:
      return 30000;
    case Dtype::bf16:
    case Dtype::f32:
      return 1e30;
    case Dtype::f64:
      return 1e150;
    default:
      return std::ldexp(1.0, 8 * byte_size(t) - (t == Dtype::u8 ? 0 : 1));
  }
}

Facts rounded(Facts f, Dtype t, double steps) {
  if (!is_floating(t)) return f;
  f.error += steps * epsilon(t) * (f.magnitude + f.error);
  f.exact = f.whole = false;
  return f;
}

double Builder::bound_of(Expr e) {
  auto at = [](double floor) {
    return [floor](Expr s) -> std::optional<std::int64_t> {
      return std::max<std::int64_t>(s.info().hint.value_or(2), static_cast<std::int64_t>(floor));
    };
  };
  const auto most = symbolic::evaluate(e, at(kLargestRerun)), hint = symbolic::evaluate(e, at(0));
  return static_cast<double>(std::max(most.value_or(0), hint.value_or(0)));
}

std::int64_t Builder::hint(Expr e) const { return symbolic::hint_of(e).value_or(0); }

bool Builder::is_empty(const Known& k) const {
  for (Expr e : type_of(k).sizes)
    if (hint(e) == 0) return true;
  return false;
}

Known Builder::add(std::string_view op, std::vector<Value> operands, Attributes attributes, Facts facts) {
  Known k{g_.add(op, std::move(operands), std::move(attributes)), facts};
  const Dtype t = type_of(k).dtype;
  if (!is_floating(t)) {
    // u8 wraps below zero already.
    k.facts.magnitude =
        t == Dtype::u8 ? 255 : std::min(std::isnan(facts.magnitude) ? INFINITY : facts.magnitude, largest(t));
    k.facts.whole = true;
  } else if (k.facts.whole && k.facts.magnitude > exact_limit(t)) {
    k.facts.whole = false;
  }
  if (k.facts.exact) k.facts.error = 0;
  return k;
}

std::optional<Known> Builder::checked(Known k) const {
  double elements = 1, bound = 1;
  for (Expr e : type_of(k).sizes) elements *= static_cast<double>(hint(e)), bound *= bound_of(e);
  if (elements > kMostElements || bound > 60 * kMostElements) return std::nullopt;
  if (k.facts.exact) return k;
  const Dtype t = type_of(k).dtype;
  if (!is_floating(t) || !(k.facts.magnitude < largest(t))) return std::nullopt;
  if (!(k.facts.error < 0.05 * std::max(1.0, std::min(k.facts.magnitude, 10.0)))) return std::nullopt;
  return k;
}

Known Builder::literal(double v) { return {g_.literal(v), {true, v == std::floor(v), std::fabs(v), 0}}; }
Known Builder::literal(std::int64_t v) { return {g_.literal(v), {true, true, std::fabs(static_cast<double>(v)), 0}}; }

Known Builder::tame(const Known& k) {
  if (is_floating(type_of(k).dtype) || k.facts.magnitude <= 0x1p24) return k;
  return add("floor_mod", {k.value, g_.literal(std::int64_t{101})}, {}, {true, true, 100, 0});
}

Known Builder::as_float(const Known& k) {
  if (is_floating(type_of(k).dtype)) return k;
  const Known t = tame(k);
  return add("cast", {t.value}, {{"dtype", Dtype::f32}}, t.facts);
}

Known Builder::bounded(const Known& k, double limit) {
  if (k.facts.magnitude <= limit) return k;
  Facts f = k.facts;
  const bool special = !f.finite();
  f.magnitude = limit;
  Known c = add("clamp", {k.value, g_.literal(-limit), g_.literal(limit)}, {}, f);
  if (!special) return c;
  // NaN stays NaN through clamp: it is taken out.
  const Known nan = add("isnan", {c.value}, {}, {true, true, 1, 0});
  return add("where", {nan.value, g_.literal(1.0), c.value}, {}, f);
}

std::optional<Known> Builder::fitted(const Known& b, const std::vector<Expr>& sizes) {
  Known k = b;
  while (type_of(k).sizes.size() > sizes.size()) {
    if (hint(type_of(k).sizes[0]) == 0) return std::nullopt;
    k = add("select", {k.value}, {{"axis", std::int64_t{0}}, {"index", std::int64_t{0}}}, k.facts);
  }
  const std::size_t skip = sizes.size() - type_of(k).sizes.size();
  for (std::size_t d = 0; d < type_of(k).sizes.size(); ++d) {
    const Expr have = type_of(k).sizes[d], want = sizes[d + skip];
    if (have == want || have.is_constant(1) || want.is_constant(1)) continue;
    if (hint(have) == 0) return std::nullopt;
    k = add("slice", {k.value},
            {{"axis", static_cast<std::int64_t>(d)}, {"start", std::int64_t{0}}, {"stop", std::int64_t{1}}}, k.facts);
  }
  return k;
}

Known Builder::partner(const Known& a, int b) {
  const std::vector<Expr>& sizes = type_of(a).sizes;
  for (int i = b; i >= std::max(0, b - kNeighbours); --i) {
    const Known& k = value(i);
    if (type_of(k).scalar || rank_of(k) != rank_of(a) || k.value == a.value) continue;
    bool fits = true;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const Expr have = type_of(k).sizes[d];
      if (have != sizes[d] && !have.is_constant(1) && !sizes[d].is_constant(1)) fits = false;
    }
    if (fits) return k;
  }
  if (auto k = fitted(value(b), sizes)) return *k;
  return a;
}

const std::vector<StepKind>& step_kinds() {
  static const std::vector<StepKind> kinds = [] {
    std::vector<StepKind> all;
    for (const auto& part : {pointwise_steps(), view_steps(), reduction_steps(), other_steps()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kinds;
}

int draw_step_kind(Random& r) {
  int total = 0;
  for (const StepKind& k : step_kinds()) total += k.weight;
  auto at = static_cast<int>(r.below(total));
  int kind = 0;
  while (at >= step_kinds()[static_cast<std::size_t>(kind)].weight)
    at -= step_kinds()[static_cast<std::size_t>(kind++)].weight;
  return kind;
}

std::optional<Known> Builder::apply(const Step& s) {
  const StepKind& kind = step_kinds()[static_cast<std::size_t>(s.kind)];
  Random random(s.p);
  try {
    auto k = kind.apply(*this, s, random);
    return k ? checked(*k) : k;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

std::vector<bool> live_values(const Recipe& r) {
  std::vector<bool> live(r.inputs.size() + r.steps.size());
  for (int o : r.outputs) live[static_cast<std::size_t>(o)] = true;
  for (const Write& w : r.writes)
    live[static_cast<std::size_t>(w.input)] = live[static_cast<std::size_t>(w.value)] = true;
  for (std::size_t i = r.steps.size(); i-- > 0;) {
    if (!live[r.inputs.size() + i]) continue;
    const Step& s = r.steps[i];
    live[static_cast<std::size_t>(s.a)] = true;
    if (s.bypassed) continue;
    live[static_cast<std::size_t>(s.b)] = live[static_cast<std::size_t>(s.c)] = true;
    // partner() looks at neighbours.
    for (int end : {s.b, s.c})
      for (int k = end; k >= std::max(0, end - kNeighbours); --k) live[static_cast<std::size_t>(k)] = true;
  }
  return live;
}

namespace {

Facts facts_of(const InputSpec& in) {
  Facts f;
  const bool floating = is_floating(in.dtype);
  f.whole = !floating || in.fill == Fill::whole;
  f.magnitude = in.dtype == Dtype::boolean ? 1 : f.whole ? 4 : in.fill == Fill::small ? 2 : INFINITY;
  if (!floating && in.fill == Fill::special) f.magnitude = largest(in.dtype);
  return f;
}

graph::TensorType input_type(const InputSpec& in, const std::vector<Expr>& sizes, Graph& g, const std::string& name,
                             bool dynamic, const std::vector<std::int64_t>& numbers) {
  graph::TensorType t{in.dtype, {}, {}, {}, in.scalar};
  std::vector<std::int64_t> concrete;
  for (const Dim& d : in.dims) {
    t.sizes.push_back(d.symbol < 0 ? g.context().constant(d.number) : sizes[static_cast<std::size_t>(d.symbol)]);
    concrete.push_back(d.symbol < 0 ? d.number : numbers[static_cast<std::size_t>(d.symbol)]);
  }
  t.strides = strides_of(in, t.sizes, g.context().constant(1));
  if (dynamic && in.symbolic_strides) {
    const std::vector<std::int64_t> values = strides_of(in, concrete, std::int64_t{1});
    for (std::size_t d = 0; d < t.strides.size(); ++d)
      if (!t.strides[d].constant() && concrete[d] > 1)
        t.strides[d] = g.env().new_symbol(
            values[d], values[d] > 0 ? symbolic::Range{1, kLargestSize} : symbolic::Range{-kLargestSize, kLargestSize},
            name + ".stride");
  }
  return t;
}

// Writes value into an input: cast and broadcast to fit; false when it does not.
bool add_write(Builder& b, FuzzGraph& out, const Recipe& r, const Write& w, std::size_t position) {
  const InputSpec& in = r.inputs[static_cast<std::size_t>(w.input)];
  if (in.scalar || in.layout == Layout::expanded) return false;
  const Value target = out.graph.inputs[position];
  try {
    auto k = b.fitted(b.value(w.value), target.type().sizes);
    if (!k) return false;
    const Dtype from = type_of(*k).dtype, to = in.dtype;
    if (from != to) {
      if (!k->facts.exact && !is_floating(to)) return false;
      if (is_floating(from) && !is_floating(to) && !(k->facts.magnitude < 100 && to != Dtype::u8)) return false;
      if (!is_floating(from)) k = b.tame(*k);
      Facts f = k->facts;
      if (!f.exact) f = rounded(f, to);
      k = b.add("cast", {k->value}, {{"dtype", to}}, f);
    }
    if (type_of(*k).scalar) return false;
    if (type_of(*k).sizes != target.type().sizes) {
      k = b.add("expand", {k->value}, {{"sizes", target.type().sizes}}, k->facts);
    }
    if (type_of(*k).sizes != target.type().sizes) return false;
    out.graph.mutations.push_back({static_cast<int>(position), k->value});
    out.writes.push_back(k->facts);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

// The written input, or a view of it.
Value shown(Builder& b, Value input, const Write& w) {
  const auto& sizes = input.type().sizes;
  const Facts facts;
  if (sizes.empty()) return input;
  switch (w.value % 4) {
    case 0:
      return input;
    case 1:
      return b.add("slice", {input}, {{"axis", std::int64_t{0}}, {"step", std::int64_t{-1}}}, facts).value;
    case 2:
      return b.add("transpose", {input}, {{"axis0", std::int64_t{0}}, {"axis1", std::int64_t{-1}}}, facts).value;
    default:
      return b.add("unsqueeze", {input}, {{"axis", std::int64_t{0}}}, facts).value;
  }
}

}  // namespace

FuzzGraph build_graph(const Recipe& r) {
  ops::register_all();
  FuzzGraph out;
  Graph& g = out.graph;
  g.name = fmt::format("fuzz_{}", r.seed);
  for (std::size_t i = 0; i < r.sizes.size(); ++i)
    out.sizes.push_back(r.dynamic ? g.env().new_symbol(r.sizes[i], {2, kLargestSize}, fmt::format("size {}", i))
                                  : g.context().constant(r.sizes[i]));
  const std::vector<bool> live = live_values(r);
  std::vector<Known> values;
  std::vector<int> position(r.inputs.size(), -1);
  for (std::size_t i = 0; i < r.inputs.size(); ++i) {
    if (!live[i]) {
      values.push_back({});
      continue;
    }
    const std::string name = fmt::format("x{}", i);
    position[i] = static_cast<int>(g.inputs.size());
    out.inputs.push_back(static_cast<int>(i));
    values.push_back(
        {g.add_input(name, input_type(r.inputs[i], out.sizes, g, name, r.dynamic, r.sizes)), facts_of(r.inputs[i])});
  }
  Builder b(r, g, values);
  for (std::size_t i = 0; i < r.steps.size(); ++i) {
    const Step& s = r.steps[i];
    if (!live[r.inputs.size() + i]) {
      values.push_back({});
      continue;
    }
    const Known a = b.value(s.a);
    std::optional<Known> k = s.bypassed ? std::nullopt : b.apply(s);
    values.push_back(k ? *k : a);
  }
  for (const Write& w : r.writes) {
    const int at = position[static_cast<std::size_t>(w.input)];
    if (at < 0 || !add_write(b, out, r, w, static_cast<std::size_t>(at)) || !w.also_output) continue;
    g.outputs.push_back(shown(b, g.inputs[static_cast<std::size_t>(at)], w));
    out.outputs.push_back(out.writes.back());
    g.output_inputs.push_back(at);
  }
  for (int o : r.outputs) {
    Known k = b.value(o);
    if (type_of(k).scalar)
      k = b.add("full", {k.value}, {{"sizes", std::vector<std::int64_t>{3}}, {"dtype", type_of(k).dtype}}, k.facts);
    g.outputs.push_back(k.value);
    g.output_inputs.push_back(-1);
    out.outputs.push_back(k.facts);
  }
  return out;
}

}  // namespace stax::fuzz
