// Mean, variance and the pair reductions behind them.
#include <fmt/format.h>

#include <cmath>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

using loop::CombineOp;

Dtype accumulator(Dtype t) { return t == Dtype::f64 ? Dtype::f64 : Dtype::f32; }

// Primitive: a combine with several results over the axes, all kept with size 1.
OpDef tuple_reduction(const char* name, const char* doc, CombineOp op, std::vector<std::string> results,
                      std::function<void(const std::vector<double>&, double*)> reference) {
  OpDef def;
  def.name = name;
  def.internal = true;
  def.doc = doc;
  def.results = std::move(results);
  const std::size_t parts = def.results.size();
  def.params = {tensor("x", "f32 or f64"), axes_param("which; default all"), keepdim_param()};
  def.infer = [parts](InferContext& c) {
    const ReductionShape s = reduction_shape(c);
    return std::vector<TensorType>(parts, c.contiguous_type(accumulator(c.type(0).dtype), s.result_sizes));
  };
  def.lower = [op, parts](LowerContext& c, const Node& node) {
    const TensorType& x = node.operands[0].type();
    const std::vector<int> axes = node_axes(node);
    const SplitSizes sizes = split_sizes(x, axes);
    std::vector<loop::View> out;
    for (std::size_t p = 0; p < parts; ++p)
      out.push_back(c.make_result(Value{const_cast<Node*>(&node), static_cast<int>(p)}));
    KernelBuilder k(c.program(), "red_" + node.op->name);
    k.set_origin(c.origin(node));
    const Dtype t = node.types[0].dtype;
    const std::vector<Expr> outer = k.outer(sizes.kept);
    const std::vector<Expr> inner = k.phase(sizes.reduced);
    const ValueId tuple =
        k.combine(op, {c.operand(k, node.operands[0], full_index(x.rank(), axes, outer, inner), t)}, t);
    std::vector<ValueId> values{tuple};
    for (std::size_t p = 1; p < parts; ++p) values.push_back(k.part(tuple, static_cast<int>(p)));
    k.phase();
    const std::vector<Expr> at = result_index(node, axes, outer);
    for (std::size_t p = 0; p < parts; ++p) k.store(out[p].buffer, c.address(out[p], at), values[p]);
    c.emit(k.finish());
  };
  def.evaluate = [parts, reference](EvalContext& c) {
    const Array& x = c.operand(0);
    const std::vector<int> axes = node_axes(c.node());
    std::vector<Array> out;
    for (std::size_t p = 0; p < parts; ++p) out.push_back(c.make_result(p));
    const bool keepdim = out[0].rank() == x.rank() && x.rank() > 0;
    std::vector<std::int64_t> kept, reduced;
    for (int i = 0; i < x.rank(); ++i)
      (std::find(axes.begin(), axes.end(), i) != axes.end() ? reduced : kept).push_back(x.size(i));
    for_each_index(kept, [&](std::span<const std::int64_t> outer) {
      std::vector<std::int64_t> index(static_cast<std::size_t>(x.rank()));
      std::int64_t offset = 0;
      std::size_t next = 0, at = 0;
      for (int i = 0; i < x.rank(); ++i) {
        const bool red = std::find(axes.begin(), axes.end(), i) != axes.end();
        if (!red) {
          index[static_cast<std::size_t>(i)] = outer[next++];
          offset += index[static_cast<std::size_t>(i)] * out[0].strides()[at];
        }
        if (!red || keepdim) ++at;
      }
      std::vector<double> values;
      for_each_index(reduced, [&](std::span<const std::int64_t> inner) {
        for (std::size_t a = 0; a < axes.size(); ++a) index[static_cast<std::size_t>(axes[a])] = inner[a];
        values.push_back(read_f64(x, index));
      });
      std::vector<double> result(parts);
      reference(values, result.data());
      for (std::size_t p = 0; p < parts; ++p) {
        if (out[p].dtype() == Dtype::f64)
          out[p].data_as<double>()[offset] = result[p];
        else
          out[p].data_as<float>()[offset] = static_cast<float>(result[p]);
      }
    });
    return out;
  };
  return def;
}

OpDef moments() {
  OpDef def =
      tuple_reduction("moments", "Mean and sum of squared differences from it, over the axes; 0 and 0 when empty.",
                      CombineOp::welford, {"mean", "m2"}, [](const std::vector<double>& v, double* out) {
                        double mean = 0, m2 = 0;
                        for (double x : v) mean += x / static_cast<double>(v.size());
                        for (double x : v) m2 += (x - mean) * (x - mean);
                        out[0] = mean, out[1] = m2;
                      });
  def.samples = [] { return reduction_samples({Dtype::f32, Dtype::f64}, 60, Fill::positive, true); };
  return def;
}

OpDef softmax_stats() {
  OpDef def = tuple_reduction(
      "softmax_stats", "Largest element m and sum of e^(x - m) over the axes, in one pass (online softmax).",
      CombineOp::online_softmax, {"maximum", "denominator"}, [](const std::vector<double>& v, double* out) {
        double m = -INFINITY, d = 0;
        for (double x : v) m = std::isnan(x) || std::isnan(m) ? NAN : std::max(m, x);
        for (double x : v) d += std::exp(x - m);
        out[0] = m, out[1] = d;
      });
  def.samples = [] { return reduction_samples({Dtype::f32, Dtype::f64}, 60, Fill::positive, false); };
  return def;
}

// x in its accumulator dtype.
Value widened(Graph& g, Value x, const SourceLoc& where) {
  return g.add("cast", {x}, {{"dtype", accumulator(x.type().dtype)}}, where);
}

Expr reduced_count(Graph& g, const Node& node) {
  InferContext c(*node.op, node.operands, node.attributes, g.env(), node.where);
  return reduction_shape(c).count;
}

OpDef mean() {
  OpDef def;
  def.name = "mean";
  def.doc = "Arithmetic mean over the axes, of floats; NaN when empty.";
  def.method = true;
  def.params = {tensor("x", "a float tensor"), axes_param("which; default all"), keepdim_param()};
  def.infer = [](InferContext& c) {
    if (!is_floating(c.type(0).dtype)) c.error("takes floats, not " + to_string(c.type(0).dtype), "Cast with .to(f32)");
    return std::vector{c.contiguous_type(c.type(0).dtype, reduction_shape(c).result_sizes)};
  };
  def.decompose = [](Graph& g, const Node& node, const std::vector<Value>& operands) {
    Value s = g.add("sum", {widened(g, operands[0], node.where)},
                    {{"axes", node.attributes.at("axes")}, {"keepdim", node.attributes.at("keepdim")}}, node.where);
    Value m = g.add("div", {s, g.size_value(reduced_count(g, node))}, {}, node.where);
    return std::vector{g.add("cast", {m}, {{"dtype", node.types[0].dtype}}, node.where)};
  };
  def.samples = [] { return reduction_samples(kFloatDtypes, 40, Fill::small, true); };
  return def;
}

std::vector<Param> variance_params() {
  return {tensor("x", "a float tensor"),
          axes_param("which; default all"),
          {"correction", ParamKind::floating, 1.0, "divisor is max(0, N - correction)"},
          keepdim_param()};
}

void check_float(InferContext& c) {
  if (!is_floating(c.type(0).dtype)) c.error("takes floats, not " + to_string(c.type(0).dtype), "Cast with .to(f32)");
}

OpDef var_mean() {
  OpDef def;
  def.name = "var_mean";
  def.doc = "Variance with divisor max(0, N - correction), and mean, over the axes.";
  def.results = {"variance", "mean"};
  def.method = true;
  def.params = variance_params();
  def.infer = [](InferContext& c) {
    check_float(c);
    return std::vector<TensorType>(2, c.contiguous_type(c.type(0).dtype, reduction_shape(c).result_sizes));
  };
  def.decompose = [](Graph& g, const Node& node, const std::vector<Value>& operands) {
    const std::vector<Value> m =
        g.add_all("moments", {widened(g, operands[0], node.where)},
                  {{"axes", node.attributes.at("axes")}, {"keepdim", node.attributes.at("keepdim")}}, node.where);
    const Attribute& a = node.attributes.at("correction");
    const auto* whole = std::get_if<std::int64_t>(&a);
    const double correction = whole ? static_cast<double>(*whole) : std::get<double>(a);
    const Expr count = reduced_count(g, node);
    Value divisor;
    if (correction == std::floor(correction)) {
      divisor = g.size_value(max(count - static_cast<std::int64_t>(correction), count.context().constant(0)));
    } else {
      Value n = g.add("full", {g.size_value(count)},
                      {{"sizes", std::vector<std::int64_t>{}},
                       {"dtype", m[1].type().dtype},
                       {"device", to_string(m[1].type().device)}},
                      node.where);
      divisor =
          g.add("maximum", {g.add("sub", {n, g.literal(correction)}, {}, node.where), g.literal(0.0)}, {}, node.where);
    }
    Value variance = g.add("div", {m[1], divisor}, {}, node.where);
    // The mean of nothing is NaN, not the 0 of the pair's identity.
    Value mean = m[0];
    if (g.env().decide(eq(count, 0), "var_mean: the reduced axes are empty", node.where))
      mean = g.add("div", {mean, g.literal(0.0)}, {}, node.where);
    return std::vector{g.add("cast", {variance}, {{"dtype", node.types[0].dtype}}, node.where),
                       g.add("cast", {mean}, {{"dtype", node.types[1].dtype}}, node.where)};
  };
  def.samples = [] {
    std::vector<Sample> samples =
        reduction_samples(kFloatDtypes, 60, Fill::positive, true, false, "axes", {{"correction", 1.0}});
    for (double correction : {0.0, 4.9, 4.0})
      samples.push_back({{make_array(Dtype::f32, {3, 3}, Fill::positive)},
                         {},
                         {{"axes", std::vector<std::int64_t>{0}}, {"correction", correction}},
                         tolerance_of(Dtype::f32, 60),
                         "correction"});
    return samples;
  };
  return def;
}

OpDef var() {
  OpDef def;
  def.name = "var";
  def.doc = "Variance with divisor max(0, N - correction), over the axes.";
  def.method = true;
  def.params = variance_params();
  def.infer = [](InferContext& c) {
    check_float(c);
    return std::vector{c.contiguous_type(c.type(0).dtype, reduction_shape(c).result_sizes)};
  };
  def.decompose = [](Graph& g, const Node& node, const std::vector<Value>& operands) {
    return std::vector{g.add_all("var_mean", operands, node.attributes, node.where)[0]};
  };
  def.samples = [] {
    return reduction_samples(kFloatDtypes, 60, Fill::positive, true, false, "axes", {{"correction", 0.0}});
  };
  return def;
}

}  // namespace

void register_statistics() {
  graph::register_op(moments());
  graph::register_op(softmax_stats());
  graph::register_op(mean());
  graph::register_op(var_mean());
  graph::register_op(var());
}

}  // namespace stax::ops
