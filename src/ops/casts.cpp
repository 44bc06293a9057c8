// Conversions and copies.
#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

std::vector<Array> copy_result(EvalContext& c) {
  Array out = c.make_result();
  copy_elements(c.operand(0), out);
  return {out};
}

void lower_copy(LowerContext& c, const Node& node) {
  c.pointwise(
      node, [&](KernelBuilder& k, Index index) { return c.operand(k, node.operands[0], index, node.types[0].dtype); });
}

OpDef cast() {
  OpDef def;
  def.name = "cast";
  def.handwritten = true;
  def.doc =
      "Elements converted to `dtype`: rounds to nearest even, float to integer truncates, integers wrap, to boolean is "
      "!= 0. "
      "The same dtype gives the tensor itself.";
  def.params = {tensor("x", "any dtype"), {"dtype", ParamKind::dtype, {}, "of the result"}};
  def.build = [](Graph&, InferContext& c) {
    return c.type(0).dtype == c.dtype("dtype") ? std::vector{c.operands()[0]} : std::vector<Value>{};
  };
  def.infer = [](InferContext& c) { return std::vector{c.pointwise_type(c.dtype("dtype"))}; };
  def.lower = lower_copy;
  def.evaluate = copy_result;
  def.samples = [] {
    std::vector<Sample> samples;
    for (Dtype from : kAllDtypes)
      for (Dtype to : kAllDtypes)
        samples.push_back(
            {{make_array(from, {3, 19}, is_floating(from) && is_floating(to) ? Fill::special : Fill::whole)},
             {},
             {{"dtype", to}},
             0,
             to_string(from) + " to " + to_string(to)});
    for (Dtype from : kAllDtypes)
      for (Dtype to : kAllDtypes)
        samples.push_back({{make_array(from, {37}, Fill::special)},
                           {},
                           {{"dtype", to}},
                           0,
                           "extremes of " + to_string(from) + " to " + to_string(to)});
    samples.push_back(
        {{make_array(Dtype::f32, {5, 18}, LayoutKind::transposed)}, {}, {{"dtype", Dtype::i32}}, 0, "transposed"});
    return samples;
  };
  return def;
}

OpDef clone() {
  OpDef def;
  def.name = "clone";
  def.doc = "A copy in memory of its own; keeps the axis order of a dense tensor.";
  def.method = true;
  def.params = {tensor("x", "any dtype")};
  def.infer = [](InferContext& c) { return std::vector{c.pointwise_type(c.type(0).dtype)}; };
  def.lower = lower_copy;
  def.evaluate = copy_result;
  def.samples = [] { return pointwise_samples(1, kAllDtypes, 0, Fill::whole); };
  return def;
}

OpDef contiguous() {
  OpDef def;
  def.name = "contiguous";
  def.doc = "The tensor in row-major order: itself when it is so already, else a copy.";
  def.method = true;
  def.params = {tensor("x", "any dtype")};
  def.build = [](Graph&, InferContext& c) -> std::vector<Value> {
    const TensorType& x = c.type(0);
    const std::vector<Expr> plain = c.row_major(x.sizes);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (x.sizes[i].is_constant(0)) return {c.operands()[0]};
      if (!x.sizes[i].is_constant(1) && x.strides[i] != plain[i] &&
          !c.decide(eq(x.strides[i], plain[i]), "the operand is row-major"))
        return {};
    }
    return {c.operands()[0]};
  };
  def.infer = [](InferContext& c) { return std::vector{c.contiguous_type(c.type(0).dtype, c.type(0).sizes)}; };
  def.lower = lower_copy;
  def.evaluate = copy_result;
  def.samples = [] { return pointwise_samples(1, kAllDtypes, 0, Fill::whole); };
  return def;
}

}  // namespace

void register_casts() {
  graph::register_op(cast());
  graph::register_op(clone());
  graph::register_op(contiguous());
}

}  // namespace stax::ops
