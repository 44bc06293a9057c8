// Arithmetic with promotion.
#include <cmath>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

struct Binary {
  const char* name;
  const char* doc;
  ScalarOp op;
  ScalarOp on_boolean;  // what it means for two booleans; `constant` marks a refusal
  double (*on_float)(double, double);
  std::int64_t (*on_int)(std::int64_t, std::int64_t);
  bool divides = false;
  bool true_division = false;  // integers give f32
};

std::uint64_t u(std::int64_t v) { return static_cast<std::uint64_t>(v); }
std::int64_t i(std::uint64_t v) { return static_cast<std::int64_t>(v); }

std::int64_t trunc_quotient(std::int64_t a, std::int64_t b) { return b == -1 ? i(0 - u(a)) : a / b; }
std::int64_t trunc_remainder(std::int64_t a, std::int64_t b) { return b == -1 ? 0 : a % b; }
std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = trunc_quotient(a, b), r = trunc_remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? q - 1 : q;
}
std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  const std::int64_t r = trunc_remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
double float_floor_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
// floor(a / b) of the exact quotient, from the exact remainder.
double float_floor_div(double a, double b) {
  if (b == 0 || std::isinf(a) || std::isnan(a) || std::isnan(b)) return std::floor(a / b);
  if (std::isinf(b)) return a == 0 || (a < 0) == (b < 0) ? std::copysign(0.0, a / b) : -1.0;
  const double r = std::fmod(a, b);
  const double q = std::nearbyint((a - r) / b);
  return r != 0 && (r < 0) != (b < 0) ? q - 1 : q == 0 ? std::copysign(0.0, a / b) : q;
}
std::int64_t int_pow(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  std::uint64_t result = 1, b = u(base);
  for (; exponent; exponent >>= 1, b *= b)
    if (exponent & 1) result *= b;
  return i(result);
}

const Binary kBinaries[] = {
    {"add", "a + b; booleans: or.", ScalarOp::add, ScalarOp::bit_or, [](double a, double b) { return a + b; },
     [](std::int64_t a, std::int64_t b) { return i(u(a) + u(b)); }},
    {"sub", "a - b; not for booleans.", ScalarOp::sub, ScalarOp::constant, [](double a, double b) { return a - b; },
     [](std::int64_t a, std::int64_t b) { return i(u(a) - u(b)); }},
    {"mul", "a * b; booleans: and.", ScalarOp::mul, ScalarOp::bit_and, [](double a, double b) { return a * b; },
     [](std::int64_t a, std::int64_t b) { return i(u(a) * u(b)); }},
    {"div", "a / b, true division: integers give f32.", ScalarOp::div, ScalarOp::constant,
     [](double a, double b) { return a / b; }, nullptr, false, true},
    {"floor_divide", "a / b rounded to minus infinity.", ScalarOp::floor_div, ScalarOp::constant, float_floor_div,
     floor_quotient, true},
    {"trunc_divide", "a / b rounded to zero.", ScalarOp::trunc_div, ScalarOp::constant,
     [](double a, double b) {
       double q = float_floor_div(std::fabs(a), std::fabs(b));
       return std::signbit(a) != std::signbit(b) ? -q : q;
     },
     trunc_quotient, true},
    {"floor_mod", "a - b * floor(a / b): the sign of b.", ScalarOp::floor_mod, ScalarOp::constant, float_floor_mod,
     floor_remainder, true},
    {"trunc_mod", "a - b * trunc(a / b): the sign of a.", ScalarOp::trunc_mod, ScalarOp::constant,
     [](double a, double b) { return std::fmod(a, b); }, trunc_remainder, true},
    {"pow", "a to the power b.", ScalarOp::pow, ScalarOp::constant, [](double a, double b) { return std::pow(a, b); },
     int_pow},
    {"maximum", "The larger; NaN if either is NaN.", ScalarOp::max, ScalarOp::bit_or, nan_max,
     [](std::int64_t a, std::int64_t b) { return std::max(a, b); }},
    {"minimum", "The smaller; NaN if either is NaN.", ScalarOp::min, ScalarOp::bit_and, nan_min,
     [](std::int64_t a, std::int64_t b) { return std::min(a, b); }},
};

Dtype result_dtype(InferContext& c, const Binary& b) {
  const Dtype t = c.promoted();
  if (b.true_division) return float_result(t);
  if (t == Dtype::boolean && b.on_boolean == ScalarOp::constant)
    c.error("is not defined for booleans", "Cast to a number with .to(dtype)");
  return t;
}

std::vector<Sample> binary_samples(const Binary& b) {
  const std::vector<Dtype>& dtypes = b.on_boolean == ScalarOp::constant ? kNumberDtypes : kAllDtypes;
  const bool is_pow = b.op == ScalarOp::pow;
  std::vector<Sample> samples = pointwise_samples(2, dtypes, is_pow ? 8 : 0,
                                                  b.divides ? Fill::nonzero
                                                  : is_pow  ? Fill::positive
                                                            : Fill::small);
  samples.push_back({{make_array(Dtype::i32, {19}, Fill::nonzero), make_array(Dtype::f32, {19}, Fill::nonzero, 3)},
                     {},
                     {},
                     tolerance_of(Dtype::f32, 4),
                     "int and float"});
  samples.push_back({{make_array(Dtype::bf16, {19}, Fill::nonzero), scalar_array(2.5)},
                     {false, true},
                     {},
                     is_pow ? tolerance_of(Dtype::bf16, 1) : 0,
                     "host scalar keeps bf16"});
  samples.push_back({{make_array(Dtype::i32, {19}, Fill::nonzero), scalar_array(std::int64_t{3})},
                     {false, true},
                     {},
                     is_pow ? tolerance_of(Dtype::f32) : 0,
                     "host integer keeps i32"});
  return samples;
}

OpDef binary(const Binary& b) {
  OpDef def;
  def.name = b.name;
  def.doc = b.doc;
  def.params = {operand("a", "left"), operand("b", "right")};
  def.infer = [b](InferContext& c) { return std::vector{c.pointwise_type(result_dtype(c, b))}; };
  def.lower = [b](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      const Dtype t = compute_dtype(node.types[0].dtype);
      return k.binary(t == Dtype::boolean ? b.on_boolean : b.op, c.operand(k, node.operands[0], index, t),
                      c.operand(k, node.operands[1], index, t));
    });
  };
  def.evaluate = [b](EvalContext& c) {
    return evaluate_pointwise(
        c, c.result_dtype(), [&](std::span<const double> v) { return b.on_float(v[0], v[1]); },
        [&](std::span<const std::int64_t> v) {
          if (b.divides && v[1] == 0) c.error("integer division by zero");
          return b.on_int(v[0], v[1]);
        });
  };
  def.samples = [b] { return binary_samples(b); };
  return def;
}

struct Unary {
  const char* name;
  const char* doc;
  ScalarOp op;
  double (*on_float)(double);
  std::int64_t (*on_int)(std::int64_t);
};

const Unary kUnaries[] = {
    {"neg", "-x: a sign flip, also of zero.", ScalarOp::neg, [](double x) { return -x; },
     [](std::int64_t x) { return i(0 - u(x)); }},
    {"abs", "Magnitude; the smallest integer wraps.", ScalarOp::abs, [](double x) { return std::fabs(x); },
     [](std::int64_t x) { return x < 0 ? i(0 - u(x)) : x; }},
    {"sign", "-1, 0 or 1; NaN stays NaN.", ScalarOp::sign,
     [](double x) { return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0)); },
     [](std::int64_t x) { return std::int64_t{(x > 0) - (x < 0)}; }},
};

OpDef unary(const Unary& op) {
  OpDef def;
  def.name = op.name;
  def.doc = op.doc;
  def.method = true;
  def.params = {tensor("x", "any number dtype")};
  def.infer = [](InferContext& c) {
    if (c.type(0).dtype == Dtype::boolean) c.error("is not defined for booleans", "Cast to a number with .to(dtype)");
    return std::vector{c.pointwise_type(c.type(0).dtype)};
  };
  def.lower = [op](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      return k.unary(op.op, c.operand(k, node.operands[0], index, compute_dtype(node.types[0].dtype)));
    });
  };
  def.evaluate = [op](EvalContext& c) {
    return evaluate_pointwise(
        c, c.result_dtype(), [&](std::span<const double> v) { return op.on_float(v[0]); },
        [&](std::span<const std::int64_t> v) { return op.on_int(v[0]); });
  };
  def.samples = [] { return pointwise_samples(1, kNumberDtypes, 0); };
  return def;
}

}  // namespace

void register_arithmetic() {
  for (const Binary& b : kBinaries) graph::register_op(binary(b));
  for (const Unary& op : kUnaries) graph::register_op(unary(op));
}

}  // namespace stax::ops
