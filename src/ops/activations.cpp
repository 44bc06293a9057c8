// Activations: pointwise bodies computed in f32 (f64 for f64) and rounded once.
#include <cmath>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

using Body = std::function<ValueId(KernelBuilder&, ValueId x, Dtype t)>;

OpDef activation(const char* name, const char* doc, bool integers, const Body& body, double (*reference)(double),
                 double steps) {
  OpDef def;
  def.name = name;
  def.doc = doc;
  def.method = true;
  def.params = {tensor("x", "a float tensor; integers are taken as f32")};
  def.infer = [integers](InferContext& c) {
    return std::vector{c.pointwise_type(integers ? c.type(0).dtype : float_result(c.type(0).dtype))};
  };
  def.lower = [body](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      const Dtype t = compute_dtype(node.types[0].dtype);
      return body(k, c.operand(k, node.operands[0], index, t), t);
    });
  };
  def.evaluate = [reference](EvalContext& c) {
    return evaluate_pointwise(
        c, c.result_dtype(), [&](std::span<const double> v) { return reference(v[0]); },
        [](std::span<const std::int64_t> v) { return std::max<std::int64_t>(v[0], 0); });  // relu alone takes integers
  };
  def.samples = [integers, steps] { return pointwise_samples(1, integers ? kNumberDtypes : kFloatDtypes, steps); };
  return def;
}

ValueId gelu_erf_body(KernelBuilder& k, ValueId x, Dtype t) {
  // x · (1 + erf(x / √2)) / 2
  const ValueId e = k.unary(ScalarOp::erf, k.binary(ScalarOp::mul, x, k.constant(M_SQRT1_2, t)));
  return k.binary(ScalarOp::mul, k.binary(ScalarOp::mul, x, k.constant(0.5, t)),
                  k.binary(ScalarOp::add, e, k.constant(1, t)));
}

ValueId gelu_tanh_body(KernelBuilder& k, ValueId x, Dtype t) {
  // x · (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2
  const ValueId cube = k.binary(ScalarOp::mul, k.binary(ScalarOp::mul, x, x), x);
  const ValueId inner = k.binary(ScalarOp::add, x, k.binary(ScalarOp::mul, cube, k.constant(0.044715, t)));
  const ValueId h = k.unary(ScalarOp::tanh, k.binary(ScalarOp::mul, inner, k.constant(M_2_SQRTPI * M_SQRT1_2, t)));
  return k.binary(ScalarOp::mul, k.binary(ScalarOp::mul, x, k.constant(0.5, t)),
                  k.binary(ScalarOp::add, h, k.constant(1, t)));
}

double gelu_erf(double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); }
double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(M_2_SQRTPI * M_SQRT1_2 * (x + 0.044715 * x * x * x))); }

OpDef gelu() {
  OpDef def =
      activation("gelu", "x times the normal distribution function of x; approximate \"none\" (erf) or \"tanh\".",
                 false, gelu_erf_body, gelu_erf, 4);
  def.params.push_back({"approximate", ParamKind::string, std::string("none"), "none or tanh"});
  auto is_tanh = [](const InferContext& c) {
    const std::string a = c.string("approximate");
    if (a != "none" && a != "tanh") c.error("approximate is '" + a + "'", "Use none or tanh");
    return a == "tanh";
  };
  def.infer = [is_tanh](InferContext& c) {
    (void)is_tanh(c);
    return std::vector{c.pointwise_type(float_result(c.type(0).dtype))};
  };
  def.lower = [](LowerContext& c, const Node& node) {
    const bool tanh = std::get<std::string>(node.attributes.at("approximate")) == "tanh";
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      const Dtype t = compute_dtype(node.types[0].dtype);
      return (tanh ? gelu_tanh_body : gelu_erf_body)(k, c.operand(k, node.operands[0], index, t), t);
    });
  };
  def.evaluate = [is_tanh](EvalContext& c) {
    const bool tanh = is_tanh(c.attributes());
    return evaluate_pointwise(
        c, c.result_dtype(), [&](std::span<const double> v) { return (tanh ? gelu_tanh : gelu_erf)(v[0]); }, nullptr);
  };
  def.samples = [] {
    std::vector<Sample> samples = pointwise_samples(1, kFloatDtypes, 4);
    for (Dtype t : kFloatDtypes)
      samples.push_back(
          {{make_array(t, {3, 21})}, {}, {{"approximate", std::string("tanh")}}, tolerance_of(t, 8), "tanh form"});
    return samples;
  };
  return def;
}

}  // namespace

void register_activations() {
  OpDef relu = activation(
      "relu", "max(x, 0); NaN stays NaN.", true,
      [](KernelBuilder& k, ValueId x, Dtype t) {
        return k.binary(ScalarOp::max, x, is_floating(t) ? k.constant(0, t) : k.constant_int(0, t));
      },
      [](double x) { return std::isnan(x) ? x
                            : x > 0       ? x
                                          : 0.0; }, 0);
  relu.infer = [](InferContext& c) {
    if (c.type(0).dtype == Dtype::boolean) c.error("is not defined for booleans", "Cast to a number with .to(dtype)");
    return std::vector{c.pointwise_type(c.type(0).dtype)};
  };
  graph::register_op(std::move(relu));
  graph::register_op(gelu());
  graph::register_op(activation(
      "silu", "x · sigmoid(x).", false,
      [](KernelBuilder& k, ValueId x, Dtype) { return k.binary(ScalarOp::mul, x, k.unary(ScalarOp::sigmoid, x)); },
      [](double x) { return x == -INFINITY ? NAN : x / (1 + std::exp(-x)); }, 4));
}

}  // namespace stax::ops
