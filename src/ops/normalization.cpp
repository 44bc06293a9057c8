// Softmax and normalisation, in terms of reductions over an axis and pointwise work; half types are computed in f32.
#include <fmt/format.h>

#include <cmath>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

// From this row length on, maximum and denominator are found in one pass: a row no longer stays in cache between
// passes.
constexpr std::int64_t kOnlineSoftmaxLength = 1 << 17;

Dtype wide(Dtype t) { return t == Dtype::f64 ? Dtype::f64 : Dtype::f32; }

struct Body {
  Graph& g;
  SourceLoc where;
  Value add(std::string_view op, std::vector<Value> operands, Attributes attributes = {}) const {
    return g.add(op, std::move(operands), std::move(attributes), where);
  }
  Value cast(Value v, Dtype t) const { return add("cast", {v}, {{"dtype", t}}); }
};

Attributes over(std::int64_t axis) { return {{"axes", std::vector<std::int64_t>{axis}}, {"keepdim", true}}; }

OpDef softmax_like(const char* name, const char* doc, bool logarithm) {
  OpDef def;
  def.name = name;
  def.doc = doc;
  def.method = true;
  def.params = {tensor("x", "a float tensor"), axis_param("axis", "along which")};
  def.infer = [](InferContext& c) {
    if (!is_floating(c.type(0).dtype)) c.error("takes floats, not " + to_string(c.type(0).dtype), "Cast with .to(f32)");
    (void)c.axis("axis", c.type(0).rank());
    return std::vector{c.contiguous_type(c.type(0).dtype, c.type(0).sizes)};
  };
  def.decompose = [logarithm](Graph& g, const Node& node, const std::vector<Value>& operands) {
    const Body b{g, node.where};
    const TensorType& t = operands[0].type();
    if (t.rank() == 0) {  // 1, or NaN where x is not finite
      const Value difference = b.add("sub", {operands[0], operands[0]});
      return std::vector{logarithm ? difference : b.add("add", {difference, g.literal(1.0)})};
    }
    std::int64_t axis = std::get<std::int64_t>(node.attributes.at("axis"));
    if (axis < 0) axis += t.rank();
    const Expr length = t.sizes[static_cast<std::size_t>(axis)];
    if (g.env().decide(eq(length, 0), node.op->name + ": the axis is empty", node.where))
      return std::vector{b.add("contiguous", {operands[0]})};
    const Value x = b.cast(operands[0], wide(t.dtype));
    Value m, d;
    if (symbolic::hint_of(length).value_or(0) >= kOnlineSoftmaxLength) {
      const std::vector<Value> stats = g.add_all("softmax_stats", {x}, over(axis), node.where);
      m = stats[0], d = stats[1];
    } else {
      m = b.add("amax", {x}, over(axis));
      d = b.add("sum", {b.add("exp", {b.add("sub", {x, m})})}, over(axis));
    }
    const Value shifted = b.add("sub", {x, m});
    const Value y = logarithm ? b.add("sub", {shifted, b.add("log", {d})}) : b.add("div", {b.add("exp", {shifted}), d});
    return std::vector{b.add("contiguous", {b.cast(y, t.dtype)})};
  };
  def.evaluate = [logarithm](EvalContext& c) {
    const Array& x = c.operand(0);
    Array out = c.make_result();
    const int rank = x.rank();
    const auto axis = static_cast<std::size_t>(rank ? c.attributes().axis("axis", rank) : 0);
    std::vector<std::int64_t> rest(x.sizes().begin(), x.sizes().end());
    const std::int64_t length = rank ? rest[axis] : 1;
    if (rank) rest[axis] = std::min<std::int64_t>(1, length);
    for_each_index(rest, [&](std::span<const std::int64_t> at) {
      std::vector<std::int64_t> index(at.begin(), at.end());
      double m = -INFINITY, d = 0;
      auto each = [&](auto&& f) {
        for (std::int64_t i = 0; i < length; ++i) {
          if (rank) index[axis] = i;
          f(read_f64(x, index));
        }
      };
      each([&](double v) { m = std::isnan(v) || std::isnan(m) ? NAN : std::max(m, v); });
      each([&](double v) { d += std::exp(v - m); });
      each([&](double v) {
        const double y = logarithm ? v - m - std::log(d) : std::exp(v - m) / d;
        put(out, index, wide(x.dtype()) == Dtype::f64 ? y : static_cast<double>(static_cast<float>(y)));
      });
    });
    return std::vector{out};
  };
  def.samples = [] {
    std::vector<Sample> samples;
    auto s = [&](Dtype t, std::vector<std::int64_t> sizes, std::int64_t axis, LayoutKind l, Fill f, std::string note) {
      samples.push_back(
          {{make_array(t, std::move(sizes), l, f)}, {}, {{"axis", axis}}, tolerance_of(t, 16), std::move(note)});
    };
    for (std::int64_t n : {1, 2, 15, 16, 17, 33, 1000}) {
      s(Dtype::f32, {3, n}, -1, LayoutKind::contiguous, Fill::small, "rows");
      s(Dtype::f32, {n, 5}, 0, LayoutKind::contiguous, Fill::small, "columns");
    }
    for (Dtype t : kFloatDtypes) {
      s(t, {4, 37}, -1, LayoutKind::contiguous, Fill::small, "dtype");
      s(t, {12, 20}, -1, LayoutKind::contiguous, Fill::special, "special values");
    }
    s(Dtype::f32, {}, 0, LayoutKind::contiguous, Fill::small, "rank 0");
    s(Dtype::f32, {3, 0}, 1, LayoutKind::contiguous, Fill::small, "empty axis");
    s(Dtype::f32, {0, 3}, 1, LayoutKind::contiguous, Fill::small, "no rows");
    s(Dtype::f32, {3, 4, 17}, 1, LayoutKind::contiguous, Fill::small, "middle axis");
    s(Dtype::f32, {6, 18}, 1, LayoutKind::transposed, Fill::small, "transposed");
    return samples;
  };
  return def;
}

std::vector<Param> norm_params(bool bias) {
  std::vector<Param> p{tensor("x", "a float tensor"),
                       {"weight", ParamKind::optional_tensor, Attribute{}, "scale, of the normalised shape, or none"}};
  if (bias) p.push_back({"bias", ParamKind::optional_tensor, Attribute{}, "shift, of the normalised shape, or none"});
  p.push_back({"normalized_shape", ParamKind::dims, {}, "the last sizes of x, over which to normalise"});
  p.push_back({"eps", ParamKind::floating, 1e-5, "added to the variance"});
  return p;
}

std::vector<TensorType> infer_norm(InferContext& c) {
  const TensorType& x = c.type(0);
  if (!is_floating(x.dtype)) c.error("takes floats, not " + to_string(x.dtype), "Cast with .to(f32)");
  const std::vector<Expr> shape = c.dims("normalized_shape");
  if (shape.empty() || shape.size() > x.sizes.size())
    c.error(
        fmt::format("normalized_shape {} does not fit shape {}", graph::shape_text(shape), graph::shape_text(x.sizes)));
  auto fits = [&](const std::vector<Expr>& sizes) {
    if (sizes.size() != shape.size()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (sizes[i] != shape[i] && !c.decide(eq(sizes[i], shape[i]), "the normalised sizes agree")) return false;
    return true;
  };
  if (!fits({x.sizes.end() - static_cast<std::ptrdiff_t>(shape.size()), x.sizes.end()}))
    c.error(fmt::format("normalized_shape {} is not the end of shape {}", graph::shape_text(shape),
                        graph::shape_text(x.sizes)),
            "Give the sizes of the last axes");
  for (std::size_t i = 1; i < c.operand_count(); ++i)
    if (c.has(i) && !fits(c.type(i).sizes))
      c.error(fmt::format("{} has shape {}, expected {}", c.op().params[i].name, graph::shape_text(c.type(i).sizes),
                          graph::shape_text(shape)));
  (void)c.device();
  return {c.contiguous_type(x.dtype, x.sizes)};
}

Attributes normalised_axes(const Node& node) {
  symbolic::ShapeEnv env(node.operands[0].type().sizes.at(0).context());
  InferContext c(*node.op, node.operands, node.attributes, env, node.where);
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0, n = c.dims("normalized_shape").size(); i < n; ++i)
    axes.push_back(-static_cast<std::int64_t>(n - i));
  return {{"axes", axes}, {"keepdim", true}};
}

double eps_of(const Node& node) {
  const Attribute& a = node.attributes.at("eps");
  const auto* whole = std::get_if<std::int64_t>(&a);
  return whole ? static_cast<double>(*whole) : std::get<double>(a);
}

Expr normalised_count(const TensorType& x, const Attributes& over) {
  Expr count = x.sizes.at(0).context().constant(1);
  for (std::int64_t a : std::get<std::vector<std::int64_t>>(over.at("axes")))
    count = count * x.sizes[x.sizes.size() - static_cast<std::size_t>(-a)];
  return count;
}

Value scale_and_shift(const Body& b, Value y, const std::vector<Value>& operands, Dtype t) {
  if (operands.size() > 1 && operands[1]) y = b.add("mul", {y, b.cast(operands[1], t)});
  if (operands.size() > 2 && operands[2]) y = b.add("add", {y, b.cast(operands[2], t)});
  return y;
}

std::vector<Sample> norm_samples(bool bias) {
  std::vector<Sample> samples;
  auto s = [&](Dtype t, std::vector<std::int64_t> sizes, std::vector<std::int64_t> shape, bool affine, LayoutKind l,
               std::string note) {
    std::vector<Array> operands{make_array(t, std::move(sizes), l)};
    operands.push_back(affine ? make_array(t, shape, Fill::positive, 2) : Array{});
    if (bias) operands.push_back(affine ? make_array(t, shape, Fill::small, 3) : Array{});
    samples.push_back(
        {std::move(operands), {}, {{"normalized_shape", shape}, {"eps", 1e-5}}, tolerance_of(t, 40), std::move(note)});
  };
  for (std::int64_t n : {1, 2, 15, 16, 17, 33, 1000}) s(Dtype::f32, {3, n}, {n}, true, LayoutKind::contiguous, "rows");
  for (Dtype t : kFloatDtypes) s(t, {4, 37}, {37}, true, LayoutKind::contiguous, "dtype");
  s(Dtype::f32, {2, 3, 19}, {3, 19}, true, LayoutKind::contiguous, "two axes");
  s(Dtype::f32, {5, 19}, {19}, false, LayoutKind::contiguous, "no scale");
  s(Dtype::f32, {6, 18}, {18}, true, LayoutKind::transposed, "transposed");
  s(Dtype::f32, {0, 18}, {18}, true, LayoutKind::contiguous, "no rows");
  return samples;
}

OpDef layer_norm() {
  OpDef def;
  def.name = "layer_norm";
  def.doc = "(x - mean) / sqrt(variance + eps) over the last axes, times weight, plus bias.";
  def.params = norm_params(true);
  def.infer = infer_norm;
  def.decompose = [](Graph& g, const Node& node, const std::vector<Value>& operands) {
    const Body b{g, node.where};
    const Dtype t = wide(node.types[0].dtype);
    const Attributes over = normalised_axes(node);
    const Value x = b.cast(operands[0], t);
    const std::vector<Value> m = g.add_all("moments", {x}, over, node.where);
    const Value variance = b.add("div", {m[1], g.size_value(normalised_count(x.type(), over))});
    const Value scale = b.add("rsqrt", {b.add("add", {variance, g.literal(eps_of(node))})});
    const Value y = scale_and_shift(b, b.add("mul", {b.add("sub", {x, m[0]}), scale}), operands, t);
    return std::vector{b.add("contiguous", {b.cast(y, node.types[0].dtype)})};
  };
  def.samples = [] { return norm_samples(true); };
  return def;
}

OpDef rms_norm() {
  OpDef def;
  def.name = "rms_norm";
  def.doc = "x / sqrt(mean of squares + eps) over the last axes, times weight.";
  def.params = norm_params(false);
  def.infer = infer_norm;
  def.decompose = [](Graph& g, const Node& node, const std::vector<Value>& operands) {
    const Body b{g, node.where};
    const Dtype t = wide(node.types[0].dtype);
    const Attributes over = normalised_axes(node);
    const Value x = b.cast(operands[0], t);
    const Value squares = b.add("sum", {b.add("mul", {x, x})}, over);
    const Value mean = b.add("div", {squares, g.size_value(normalised_count(x.type(), over))});
    const Value scale = b.add("rsqrt", {b.add("add", {mean, g.literal(eps_of(node))})});
    const Value y = scale_and_shift(b, b.add("mul", {x, scale}), operands, t);
    return std::vector{b.add("contiguous", {b.cast(y, node.types[0].dtype)})};
  };
  def.samples = [] { return norm_samples(false); };
  return def;
}

}  // namespace

void register_normalization() {
  graph::register_op(
      softmax_like("softmax", "e^x normalised to sum 1 along the axis; a row of -inf gives NaN.", false));
  graph::register_op(softmax_like("log_softmax", "The logarithm of softmax along the axis.", true));
  graph::register_op(layer_norm());
  graph::register_op(rms_norm());
}

}  // namespace stax::ops
