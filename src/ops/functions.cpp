// Functions of a float; integers and booleans are taken as f32.
#include <cmath>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

struct Function {
  const char* name;
  const char* doc;
  ScalarOp op;
  double (*reference)(double);
  double steps;                 // units in the last place allowed between reference and kernels
  bool keeps_integers = false;  // rounding functions return integers unchanged
};

const Function kFunctions[] = {
    {"exp", "e to the power x.", ScalarOp::exp, [](double x) { return std::exp(x); }, 2},
    {"exp2", "2 to the power x.", ScalarOp::exp2, [](double x) { return std::exp2(x); }, 4},
    {"expm1", "e^x - 1, accurate near 0.", ScalarOp::expm1, [](double x) { return std::expm1(x); }, 4},
    {"log", "Natural logarithm.", ScalarOp::log, [](double x) { return std::log(x); }, 2},
    {"log2", "Logarithm to base 2.", ScalarOp::log2, [](double x) { return std::log2(x); }, 4},
    {"log1p", "log(1 + x), accurate near 0.", ScalarOp::log1p, [](double x) { return std::log1p(x); }, 4},
    {"sqrt", "Square root, correctly rounded.", ScalarOp::sqrt, [](double x) { return std::sqrt(x); }, 0},
    {"rsqrt", "1 / sqrt(x).", ScalarOp::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 2},
    {"tanh", "Hyperbolic tangent.", ScalarOp::tanh, [](double x) { return std::tanh(x); }, 2},
    {"erf", "Error function.", ScalarOp::erf, [](double x) { return std::erf(x); }, 2},
    {"sigmoid", "1 / (1 + e^-x).", ScalarOp::sigmoid,
     [](double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }, 2},
    {"sin", "Sine of x in radians.", ScalarOp::sin, [](double x) { return std::sin(x); }, 2},
    {"cos", "Cosine of x in radians.", ScalarOp::cos, [](double x) { return std::cos(x); }, 2},
    {"floor", "To minus infinity.", ScalarOp::floor, [](double x) { return std::floor(x); }, 0, true},
    {"ceil", "To plus infinity.", ScalarOp::ceil, [](double x) { return std::ceil(x); }, 0, true},
    {"round", "To nearest, ties to even.", ScalarOp::round, [](double x) { return std::nearbyint(x); }, 0, true},
    {"trunc", "To zero.", ScalarOp::trunc, [](double x) { return std::trunc(x); }, 0, true},
};

Dtype result_of(const Function& f, Dtype t) { return f.keeps_integers && t != Dtype::boolean ? t : float_result(t); }

OpDef function(const Function& f) {
  OpDef def;
  def.name = f.name;
  def.doc = f.doc;
  def.method = true;
  def.params = {tensor("x", "any dtype; integers are taken as f32")};
  def.infer = [f](InferContext& c) { return std::vector{c.pointwise_type(result_of(f, c.type(0).dtype))}; };
  def.lower = [f](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      const Dtype t = compute_dtype(node.types[0].dtype);
      const ValueId x = c.operand(k, node.operands[0], index, t);
      return is_floating(t) ? k.unary(f.op, x) : x;
    });
  };
  def.evaluate = [f](EvalContext& c) {
    return evaluate_pointwise(
        c, c.result_dtype(), [&](std::span<const double> v) { return f.reference(v[0]); },
        [](std::span<const std::int64_t> v) { return v[0]; });
  };
  def.samples = [f] {
    std::vector<Sample> samples = pointwise_samples(1, kAllDtypes, f.steps);
    for (Sample& s : samples) s.tolerance = tolerance_of(result_of(f, s.operands[0].dtype()), f.steps);
    return samples;
  };
  return def;
}

}  // namespace

void register_functions() {
  for (const Function& f : kFunctions) graph::register_op(function(f));
}

}  // namespace stax::ops
