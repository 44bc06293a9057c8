// Reductions, scans and the composites of them.
#include <algorithm>

#include "steps.h"

namespace stax::fuzz {

namespace {

using Maybe = std::optional<Known>;
using Int = std::int64_t;
using Ints = std::vector<Int>;

struct Axes {
  Attribute axes;      // as the operators take it
  double count = 1;    // elements per result, over all sizes that are run
  bool empty = false;  // at the hints
  bool keep = false;
};

Axes draw_axes(Builder& b, const Known& x, Random& r, bool single = false) {
  Axes a;
  a.keep = r.chance(50);
  const int rank = rank_of(x);
  Ints list;
  if (single) {
    list = {r.below(std::max(rank, 1))};
  } else if (!r.chance(20)) {
    for (int d = 0; d < rank; ++d)
      if (r.chance(50)) list.push_back(d);
  }
  if (list.empty())
    a.axes = Attribute{};
  else
    a.axes = list;
  for (int d = 0; d < rank; ++d) {
    if (!list.empty() && std::find(list.begin(), list.end(), d) == list.end()) continue;
    const Expr e = type_of(x).sizes[static_cast<std::size_t>(d)];
    a.count *= std::max(Builder::bound_of(e), 1.0);
    if (b.hint(e) == 0) a.empty = true;
  }
  return a;
}

Attributes attributes_of(const Axes& a) { return {{"axes", a.axes}, {"keepdim", a.keep}}; }

Dtype accumulator(Dtype t) { return is_half(t) ? Dtype::f32 : t; }

// A sum of n terms in any order: random-walk growth of the rounding errors, with room.
Facts sum_of(const Facts& x, double n, Dtype t) {
  const Dtype acc = accumulator(t);
  Facts f{true, true, x.magnitude * n, 0};
  if (!is_floating(t)) return f;
  if (x.exact && x.whole && f.magnitude <= exact_limit(acc)) {
    f.whole = f.magnitude <= exact_limit(t);
    return f;
  }
  f.error = n * x.error + 8 * (4 + std::sqrt(n)) * epsilon(acc) * f.magnitude;
  return rounded(f, t, 2);
}

Maybe sum(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (type_of(x).scalar) return {};
  const Axes a = draw_axes(b, x, r);
  const Dtype t = is_floating(type_of(x).dtype) ? type_of(x).dtype : Dtype::i64;
  if (!x.facts.finite()) return {};
  return b.add("sum", {x.value}, attributes_of(a), sum_of(x.facts, a.count, t));
}

Maybe prod(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (type_of(x).scalar || is_floating(type_of(x).dtype)) return {};
  return b.add("prod", {x.value}, attributes_of(draw_axes(b, x, r)), {true, true, INFINITY, 0});
}

Maybe extremum(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  const Axes a = draw_axes(b, x, r);
  if (type_of(x).scalar || a.empty) return {};
  return b.add(r.chance(50) ? "amax" : "amin", {x.value}, attributes_of(a), x.facts);
}

Maybe any_all(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (type_of(x).scalar || !x.facts.exact) return {};
  return b.add(r.chance(50) ? "any" : "all", {x.value}, attributes_of(draw_axes(b, x, r)), {true, true, 1, 0});
}

Maybe arg(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (type_of(x).scalar || !x.facts.exact) return {};
  const Axes a = draw_axes(b, x, r, r.chance(75));
  if (a.empty) return {};
  Attributes attributes{{"keepdim", a.keep}};
  const auto* list = std::get_if<Ints>(&a.axes);
  if (list && list->size() == 1) attributes["axis"] = list->front();
  double most = 1;
  for (Expr e : type_of(x).sizes) most *= Builder::bound_of(e);
  return b.add(r.chance(50) ? "argmax" : "argmin", {x.value}, attributes, {true, true, most, 0});
}

Maybe mean(Builder& b, const Step& s, Random& r) {
  Known x = b.value(s.a);
  if (type_of(x).scalar || !x.facts.finite()) return {};
  x = b.as_float(x);
  const Axes a = draw_axes(b, x, r);
  if (a.empty) return {};
  const Dtype t = type_of(x).dtype, acc = accumulator(t);
  Facts f{false, false, x.facts.magnitude,
          x.facts.error + 8 * (4 + std::sqrt(a.count)) * epsilon(acc) * x.facts.magnitude};
  return b.add("mean", {x.value}, attributes_of(a), rounded(f, t, 2));
}

Maybe variance(Builder& b, const Step& s, Random& r) {
  Known x = b.value(s.a);
  if (type_of(x).scalar) return {};
  x = b.bounded(b.as_float(x), 100);
  const Axes a = draw_axes(b, x, r);
  if (a.empty) return {};
  const Dtype t = type_of(x).dtype, acc = accumulator(t);
  const double m = x.facts.magnitude, e = x.facts.error;
  Attributes attributes = attributes_of(a);
  attributes["correction"] = 0.0;
  Facts f{false, false, 4 * m * m, 8 * m * e + 16 * (4 + std::sqrt(a.count)) * epsilon(acc) * m * m};
  f = rounded(f, t, 4);
  if (r.chance(50)) return b.add("var", {x.value}, attributes, f);
  const std::vector<Value> both = b.graph().add_all("var_mean", {x.value}, attributes);
  if (r.chance(50)) return Known{both[0], f};
  Facts g{false, false, m, e + 16 * (4 + std::sqrt(a.count)) * epsilon(acc) * m};
  return Known{both[1], rounded(g, t, 4)};
}

Maybe cumsum(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (type_of(x).scalar || !x.facts.finite()) return {};
  const Int axis = r.below(std::max(rank_of(x), 1));
  const double n = rank_of(x) ? std::max(Builder::bound_of(type_of(x).sizes[static_cast<std::size_t>(axis)]), 1.0) : 1;
  const Dtype t = is_floating(type_of(x).dtype) ? type_of(x).dtype : Dtype::i64;
  return b.add("cumsum", {x.value}, {{"axis", axis}}, sum_of(x.facts, n, t));
}

Maybe softmax(Builder& b, const Step& s, Random& r) {
  Known x = b.value(s.a);
  if (type_of(x).scalar) return {};
  x = b.bounded(b.as_float(x), 30);
  const Int axis = r.below(std::max(rank_of(x), 1));
  const Dtype t = type_of(x).dtype, acc = accumulator(t);
  const double m = x.facts.magnitude, e = x.facts.error;
  const double n = rank_of(x) ? std::max(Builder::bound_of(type_of(x).sizes[static_cast<std::size_t>(axis)]), 1.0) : 1;
  const double shift = 2 * e + 8 * epsilon(acc) * (2 * m + std::log(n) + 8);
  if (r.chance(25))
    return b.add("log_softmax", {x.value}, {{"axis", axis}},
                 rounded({false, false, 2 * m + std::log(n) + 1, 2 * shift}, t, 4));
  if (r.chance(50) || b.is_empty(x) || rank_of(x) == 0)
    return b.add("softmax", {x.value}, {{"axis", axis}}, rounded({false, false, 1, std::expm1(2 * shift)}, t, 8));
  // By hand, in the dtype itself.
  const Facts any{false, false, 1, 0};
  const Attributes over{{"axes", Ints{axis}}, {"keepdim", true}};
  const Value top = b.add("amax", {x.value}, over, any).value;
  const Value power = b.add("exp", {b.add("sub", {x.value, top}, {}, any).value}, {}, any).value;
  const Value total = b.add("sum", {power}, over, any).value;
  const double own = 2 * e + 16 * epsilon(t) * (2 * m + 8);
  return b.add("div", {power, total}, {}, rounded({false, false, 1, std::expm1(2 * own)}, t, 8));
}

Maybe norm(Builder& b, const Step& s, Random& r) {
  Known x = b.value(s.a);
  if (type_of(x).scalar || rank_of(x) == 0) return {};
  x = b.bounded(b.as_float(x), 10);
  if (b.is_empty(x)) return {};
  const auto first = static_cast<std::ptrdiff_t>(r.chance(75) ? rank_of(x) - 1 : r.below(rank_of(x)));
  const std::vector<Expr> shape(type_of(x).sizes.begin() + first, type_of(x).sizes.end());
  double n = 1;
  for (Expr e : shape) n *= std::max(Builder::bound_of(e), 1.0);
  const Dtype t = type_of(x).dtype, acc = accumulator(t);
  const double m = x.facts.magnitude, e = x.facts.error;
  // With eps = 1: |d rsqrt(v + 1)| <= dv / 2.
  const double dv = 8 * m * e + 16 * (4 + std::sqrt(n)) * epsilon(acc) * m * m;
  Facts f{false, false, 2 * m, 3 * e + m * dv + 32 * epsilon(acc) * (1 + m)};
  const bool rms = r.chance(35);
  std::vector<Value> operands{x.value};
  // Scale and shift: any value of the shape.
  auto parameter = [&]() -> Maybe {
    auto k = b.fitted(b.value(r.chance(50) ? s.b : s.c), shape);
    if (!k || type_of(*k).scalar || !k->facts.exact || !is_floating(type_of(*k).dtype)) return {};
    Known w = b.bounded(*k, 4);
    if (type_of(w).sizes != shape) w = b.add("expand", {w.value}, {{"sizes", shape}}, w.facts);
    return w;
  };
  const Maybe weight = parameter(), bias = parameter();
  operands.push_back(weight ? weight->value : Value{});
  if (weight) f.magnitude *= 4, f.error = 4 * f.error + 4 * epsilon(acc) * f.magnitude;
  if (!rms) {
    operands.push_back(bias ? bias->value : Value{});
    if (bias) f.magnitude += 4, f.error += 4 * epsilon(acc) * f.magnitude;
  }
  return b.add(rms ? "rms_norm" : "layer_norm", operands, {{"normalized_shape", shape}, {"eps", 1.0}},
               rounded(f, t, 4));
}

// x minus its mean over some axes, by broadcasting back.
Maybe center(Builder& b, const Step& s, Random& r) {
  Known x = b.value(s.a);
  if (type_of(x).scalar || !x.facts.finite()) return {};
  x = b.as_float(x);
  Axes a = draw_axes(b, x, r);
  if (a.empty) return {};
  a.keep = true;
  const Dtype t = type_of(x).dtype, acc = accumulator(t);
  const Value mean = b.add("mean", {x.value}, attributes_of(a), {false, false, 0, 0}).value;
  Facts f{false, false, 2 * x.facts.magnitude,
          2 * x.facts.error + 8 * (4 + std::sqrt(a.count)) * epsilon(acc) * x.facts.magnitude};
  return b.add("sub", {x.value, mean}, {}, rounded(f, t, 4));
}

}  // namespace

std::vector<StepKind> reduction_steps() {
  return {{"sum", 8, sum},         {"prod", 1, prod}, {"extremum", 5, extremum}, {"any_all", 2, any_all},
          {"arg", 2, arg},         {"mean", 3, mean}, {"variance", 2, variance}, {"cumsum", 3, cumsum},
          {"softmax", 4, softmax}, {"norm", 3, norm}, {"center", 2, center}};
}

}  // namespace stax::fuzz
