// Tensors made from nothing.
#include <fmt/format.h>

#include "base/philox.h"
#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

using Ints = std::vector<std::int64_t>;

Param sizes_param() { return {"sizes", ParamKind::dims, {}, "of the result"}; }
Param result_dtype_param() { return {"dtype", ParamKind::dtype, Dtype::f32, "of the result"}; }
Param device_param() { return {"device", ParamKind::string, std::string("cpu"), "where"}; }

TensorType made(InferContext& c, std::vector<Expr> sizes, Dtype dtype) {
  for (Expr s : sizes)
    if (auto v = s.constant(); v && *v < 0) c.error(fmt::format("size {} is negative", *v));
  TensorType t = c.contiguous_type(dtype, std::move(sizes));
  t.device = parse_device(c.string("device"));
  return t;
}

Expr row_major_element(LowerContext& c, const std::vector<Expr>& sizes, Index index) {
  Expr e = c.context().constant(0);
  for (std::size_t i = 0; i < sizes.size(); ++i) e = e * sizes[i] + index[i];
  return e;
}

OpDef full() {
  OpDef def;
  def.name = "full";
  def.handwritten = true;
  def.doc = "Every element is `value`.";
  def.params = {operand("value", "a host scalar or a rank-0 tensor"), sizes_param(), result_dtype_param(),
                device_param()};
  def.infer = [](InferContext& c) {
    if (c.type(0).rank() != 0) c.error(fmt::format("the value has rank {}, not 0", c.type(0).rank()));
    return std::vector{made(c, c.dims("sizes"), c.dtype("dtype"))};
  };
  def.lower = [](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index) { return c.operand(k, node.operands[0], {}, node.types[0].dtype); });
  };
  def.evaluate = [](EvalContext& c) {
    Array out = c.make_result();
    copy_elements(graph::broadcast_to(c.operand(0), c.result_sizes()), out);
    return std::vector{out};
  };
  def.samples = [] {
    std::vector<Sample> samples;
    for (Dtype t : kAllDtypes)
      samples.push_back({{scalar_array(std::int64_t{3})}, {true}, {{"sizes", Ints{3, 17}}, {"dtype", t}}, 0, "dtype"});
    for (const Ints& s : {Ints{}, Ints{0}, Ints{1}, Ints{33}})
      samples.push_back({{scalar_array(2.5)}, {true}, {{"sizes", s}}, 0, "shape"});
    return samples;
  };
  return def;
}

OpDef arange() {
  OpDef def;
  def.name = "arange";
  def.handwritten = true;
  def.doc =
      "start, start + step, … below end (above it for a negative step), as `dtype`; each element is start + i · step.";
  def.params = {{"start", ParamKind::dim, std::int64_t{0}, "first"},
                {"end", ParamKind::dim, {}, "exclusive"},
                {"step", ParamKind::integer, std::int64_t{1}, "not 0"},
                {"dtype", ParamKind::dtype, Dtype::i64, "of the result"},
                device_param()};
  def.infer = [](InferContext& c) {
    const std::int64_t step = c.integer("step");
    if (step == 0) c.error("the step is 0");
    const Expr span = step > 0 ? c.dim("end") - c.dim("start") : c.dim("start") - c.dim("end");
    const Expr length =
        c.decide(le(span, 0), "the range is empty") ? c.context().constant(0) : ceildiv(span, step > 0 ? step : -step);
    return std::vector{made(c, {length}, c.dtype("dtype"))};
  };
  auto first = [](const Node& node, symbolic::Context& context) {
    const Attribute& a = node.attributes.at("start");
    const auto* e = std::get_if<Expr>(&a);
    return e ? *e : context.constant(std::get<std::int64_t>(a));
  };
  def.lower = [first](LowerContext& c, const Node& node) {
    const Expr start = first(node, c.context());
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      return k.cast(k.index(start + index[0] * std::get<std::int64_t>(node.attributes.at("step"))),
                    node.types[0].dtype);
    });
  };
  def.evaluate = [](EvalContext& c) {
    Array whole = Array::empty(std::span<const std::int64_t>(c.result_sizes()), Dtype::i64);
    const std::int64_t start = c.attributes().dim("start").constant().value(), step = c.attributes().integer("step");
    for (std::int64_t i = 0; i < whole.numel(); ++i) whole.data_as<std::int64_t>()[i] = start + i * step;
    return std::vector{cast_copy(whole, c.result_dtype())};
  };
  def.samples = [] {
    std::vector<Sample> samples;
    using I = std::int64_t;
    for (Dtype t : kNumberDtypes)
      samples.push_back({{}, {}, {{"start", I{0}}, {"end", I{37}}, {"step", I{1}}, {"dtype", t}}, 0, "dtype"});
    for (auto [a, b, s] : {std::array<I, 3>{0, 0, 1}, {3, 20, 4}, {10, -3, -2}, {5, 5, -1}, {0, 1, 7}})
      samples.push_back({{}, {}, {{"start", a}, {"end", b}, {"step", s}}, 0, "range"});
    return samples;
  };
  return def;
}

OpDef random(const char* name, const char* doc, bool normal) {
  OpDef def;
  def.name = name;
  def.handwritten = true;
  def.doc = doc;
  def.params = {operand("seed", "a host integer"), sizes_param(), result_dtype_param(), device_param()};
  def.infer = [](InferContext& c) {
    if (!is_floating(c.dtype("dtype"))) c.error("gives floats, not " + to_string(c.dtype("dtype")));
    if (!c.type(0).scalar || is_floating(c.type(0).dtype)) c.error("the seed must be a host integer");
    return std::vector{made(c, c.dims("sizes"), c.dtype("dtype"))};
  };
  def.lower = [normal](LowerContext& c, const Node& node) {
    const int seed = c.scalar_slot(node.operands[0]);
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      return k.cast(k.random(seed, row_major_element(c, node.types[0].sizes, index), normal), node.types[0].dtype);
    });
  };
  def.evaluate = [normal](EvalContext& c) {
    Array values = Array::empty(std::span<const std::int64_t>(c.result_sizes()), Dtype::f32);
    const auto seed = static_cast<std::uint64_t>(read_i64(c.operand(0), {}));
    for (std::int64_t i = 0; i < values.numel(); ++i)
      values.data_as<float>()[i] = normal ? base::random_normal(seed, static_cast<std::uint64_t>(i))
                                          : base::random_uniform(seed, static_cast<std::uint64_t>(i));
    return std::vector{cast_copy(values, c.result_dtype())};
  };
  def.samples = [] {
    std::vector<Sample> samples;
    for (Dtype t : kFloatDtypes)
      samples.push_back({{scalar_array(std::int64_t{7})}, {true}, {{"sizes", Ints{3, 19}}, {"dtype", t}}, 0, "dtype"});
    for (const Ints& s : {Ints{}, Ints{0}, Ints{16}, Ints{1000}})
      samples.push_back({{scalar_array(std::int64_t{-5})}, {true}, {{"sizes", s}}, 0, "shape"});
    return samples;
  };
  return def;
}

}  // namespace

void register_creation() {
  graph::register_op(full());
  graph::register_op(arange());
  graph::register_op(random(
      "randn", "Standard normal numbers: a pure function of the seed and the element's row-major position.", true));
  graph::register_op(random(
      "rand", "Uniform numbers in [0, 1): a pure function of the seed and the element's row-major position.", false));
}

}  // namespace stax::ops
