// Comparisons, tests, logic, selection.
#include <cmath>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

struct Comparison {
  const char* name;
  const char* doc;
  ScalarOp op;
  bool swap;
  bool (*on_float)(double, double);
  bool (*on_int)(std::int64_t, std::int64_t);
};

const Comparison kComparisons[] = {
    {"eq", "a == b; false with NaN.", ScalarOp::eq, false, [](double a, double b) { return a == b; },
     [](std::int64_t a, std::int64_t b) { return a == b; }},
    {"ne", "a != b; true with NaN.", ScalarOp::ne, false, [](double a, double b) { return a != b; },
     [](std::int64_t a, std::int64_t b) { return a != b; }},
    {"lt", "a < b.", ScalarOp::lt, false, [](double a, double b) { return a < b; },
     [](std::int64_t a, std::int64_t b) { return a < b; }},
    {"le", "a <= b.", ScalarOp::le, false, [](double a, double b) { return a <= b; },
     [](std::int64_t a, std::int64_t b) { return a <= b; }},
    {"gt", "a > b.", ScalarOp::lt, true, [](double a, double b) { return a > b; },
     [](std::int64_t a, std::int64_t b) { return a > b; }},
    {"ge", "a >= b.", ScalarOp::le, true, [](double a, double b) { return a >= b; },
     [](std::int64_t a, std::int64_t b) { return a >= b; }},
};

// The dtype in which the operands meet; booleans compare as numbers.
Dtype common_dtype(const Node& node) {
  std::vector<PromotionOperand> list;
  for (const Value& v : node.operands) list.push_back({v.type().dtype, v.type().scalar, v.type().rank() == 0});
  return promote_all(list);
}

OpDef comparison(const Comparison& cmp) {
  OpDef def;
  def.name = cmp.name;
  def.doc = cmp.doc;
  def.params = {operand("a", "left"), operand("b", "right")};
  def.infer = [](InferContext& c) { return std::vector{c.pointwise_type(Dtype::boolean)}; };
  def.lower = [cmp](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      // Operands of a half type are compared as that type: a host scalar is rounded to it first.
      const Dtype t = common_dtype(node);
      const ValueId a = c.operand(k, node.operands[0], index, t), b = c.operand(k, node.operands[1], index, t);
      return cmp.swap ? k.binary(cmp.op, b, a) : k.binary(cmp.op, a, b);
    });
  };
  def.evaluate = [cmp](EvalContext& c) {
    const Dtype t = common_dtype(c.node());
    return evaluate_pointwise(
        c, t,
        [&](std::span<const double> v) {
          return cmp.on_float(round_to_dtype(v[0], t), round_to_dtype(v[1], t)) ? 1.0 : 0.0;
        },
        [&](std::span<const std::int64_t> v) { return std::int64_t{cmp.on_int(v[0], v[1])}; });
  };
  def.samples = [] { return pointwise_samples(2, kAllDtypes, 0, Fill::special); };
  return def;
}

OpDef test(const char* name, const char* doc, ScalarOp op, bool (*reference)(double)) {
  OpDef def;
  def.name = name;
  def.doc = doc;
  def.method = true;
  def.params = {tensor("x", "any dtype")};
  def.infer = [](InferContext& c) { return std::vector{c.pointwise_type(Dtype::boolean)}; };
  def.lower = [op](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      const Dtype t = compute_dtype(node.operands[0].type().dtype);
      if (!is_floating(t)) return k.constant_int(0, Dtype::boolean);
      return k.unary(op, c.operand(k, node.operands[0], index, t));
    });
  };
  def.evaluate = [reference](EvalContext& c) {
    return evaluate_pointwise(
        c, c.operand(0).dtype(), [&](std::span<const double> v) { return reference(v[0]) ? 1.0 : 0.0; },
        [](std::span<const std::int64_t>) { return std::int64_t{0}; });
  };
  def.samples = [] { return pointwise_samples(1, kAllDtypes, 0); };
  return def;
}

struct Logic {
  const char* name;
  const char* doc;
  ScalarOp op;
  std::int64_t (*on_int)(std::int64_t, std::int64_t);
};
const Logic kLogic[] = {
    {"logical_and", "Both are non-zero.", ScalarOp::bit_and, [](std::int64_t a, std::int64_t b) { return a & b; }},
    {"logical_or", "Either is non-zero.", ScalarOp::bit_or, [](std::int64_t a, std::int64_t b) { return a | b; }},
    {"logical_xor", "Exactly one is non-zero.", ScalarOp::bit_xor,
     [](std::int64_t a, std::int64_t b) { return a ^ b; }},
};

std::vector<Array> evaluate_truth(EvalContext& c, const std::function<std::int64_t(std::span<const std::int64_t>)>& f) {
  return evaluate_pointwise(
      c, Dtype::f64,
      [&](std::span<const double> v) {
        std::vector<std::int64_t> truth;
        for (double d : v) truth.push_back(d != 0);
        return static_cast<double>(f(truth));
      },
      nullptr);
}

OpDef logic(const Logic& op) {
  OpDef def;
  def.name = op.name;
  def.doc = op.doc;
  def.params = {operand("a", "left"), operand("b", "right")};
  def.infer = [](InferContext& c) { return std::vector{c.pointwise_type(Dtype::boolean)}; };
  def.lower = [op](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      return k.binary(op.op, c.operand(k, node.operands[0], index, Dtype::boolean),
                      c.operand(k, node.operands[1], index, Dtype::boolean));
    });
  };
  def.evaluate = [op](EvalContext& c) {
    return evaluate_truth(c, [&](std::span<const std::int64_t> v) { return op.on_int(v[0], v[1]); });
  };
  def.samples = [] { return pointwise_samples(2, kAllDtypes, 0, Fill::whole); };
  return def;
}

OpDef logical_not() {
  OpDef def;
  def.name = "logical_not";
  def.doc = "x is zero.";
  def.params = {tensor("x", "any dtype")};
  def.infer = [](InferContext& c) { return std::vector{c.pointwise_type(Dtype::boolean)}; };
  def.lower = [](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      return k.unary(ScalarOp::bit_not, c.operand(k, node.operands[0], index, Dtype::boolean));
    });
  };
  def.evaluate = [](EvalContext& c) {
    return evaluate_truth(c, [](std::span<const std::int64_t> v) { return std::int64_t{v[0] == 0}; });
  };
  def.samples = [] { return pointwise_samples(1, kAllDtypes, 0, Fill::whole); };
  return def;
}

Dtype where_dtype(std::span<const Value> operands) {
  std::vector<PromotionOperand> list;
  for (const Value& v : operands.subspan(1)) list.push_back({v.type().dtype, v.type().scalar, v.type().rank() == 0});
  return promote_all(list);
}

OpDef where() {
  OpDef def;
  def.name = "where";
  def.doc = "a where the condition is true, else b.";
  def.params = {tensor("condition", "boolean"), operand("a", "taken where true"), operand("b", "taken where false")};
  def.infer = [](InferContext& c) {
    if (c.type(0).dtype != Dtype::boolean)
      c.error("the condition is " + to_string(c.type(0).dtype) + ", not boolean", "Compare it with 0");
    TensorType t = c.pointwise_type(where_dtype(c.operands()));
    return std::vector{t};
  };
  def.lower = [](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      const Dtype t = compute_dtype(node.types[0].dtype);
      return k.select(c.operand(k, node.operands[0], index, Dtype::boolean), c.operand(k, node.operands[1], index, t),
                      c.operand(k, node.operands[2], index, t));
    });
  };
  def.evaluate = [](EvalContext& c) {
    return evaluate_pointwise(
        c, c.result_dtype(), [](std::span<const double> v) { return v[0] != 0 ? v[1] : v[2]; },
        [](std::span<const std::int64_t> v) { return v[0] != 0 ? v[1] : v[2]; });
  };
  def.samples = [] {
    std::vector<Sample> samples = pointwise_samples(3, kAllDtypes, 0, Fill::whole);
    for (Sample& s : samples) s.operands[0] = cast_copy(s.operands[0], Dtype::boolean);
    samples.push_back(
        {{make_array(Dtype::boolean, {21}, Fill::unit), make_array(Dtype::f32, {21}, Fill::special), scalar_array(0.0)},
         {false, false, true},
         {},
         0,
         "host scalar"});
    return samples;
  };
  return def;
}

OpDef clamp() {
  OpDef def;
  def.name = "clamp";
  def.doc = "min(max(x, low), high); NaN in x or a bound gives NaN. Either bound may be absent.";
  def.params = {tensor("x", "any number dtype"),
                {"low", ParamKind::operand, Attribute{}, "lower bound or none"},
                {"high", ParamKind::operand, Attribute{}, "upper bound or none"}};
  def.infer = [](InferContext& c) {
    if (!c.has(1) && !c.has(2)) c.error("needs at least one bound");
    return std::vector{c.pointwise_type(c.promoted())};
  };
  def.lower = [](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      const Dtype t = compute_dtype(node.types[0].dtype);
      ValueId v = c.operand(k, node.operands[0], index, t);
      if (node.operands.size() > 1 && node.operands[1])
        v = k.binary(ScalarOp::max, v, c.operand(k, node.operands[1], index, t));
      if (node.operands.size() > 2 && node.operands[2])
        v = k.binary(ScalarOp::min, v, c.operand(k, node.operands[2], index, t));
      return v;
    });
  };
  def.evaluate = [](EvalContext& c) {
    const bool low = c.has(1), high = c.has(2);
    return evaluate_pointwise(
        c, c.result_dtype(),
        [&](std::span<const double> v) {
          double r = v[0];
          if (low) r = nan_max(r, v[1]);
          if (high) r = nan_min(r, v.back());
          return r;
        },
        [&](std::span<const std::int64_t> v) {
          std::int64_t r = v[0];
          if (low) r = std::max(r, v[1]);
          if (high) r = std::min(r, v.back());
          return r;
        });
  };
  def.samples = [] {
    std::vector<Sample> samples = pointwise_samples(3, kNumberDtypes, 0);
    samples.push_back(
        {{make_array(Dtype::i64, {17}), scalar_array(0.5)}, {false, true}, {}, 0, "integers and a float bound"});
    samples.push_back({{make_array(Dtype::f16, {17}, Fill::special), {}, scalar_array(1.0)},
                       {false, false, true},
                       {},
                       0,
                       "upper bound only"});
    return samples;
  };
  return def;
}

}  // namespace

void register_comparisons() {
  for (const Comparison& c : kComparisons) graph::register_op(comparison(c));
  graph::register_op(test("isnan", "x is NaN.", ScalarOp::is_nan, [](double x) { return std::isnan(x); }));
  graph::register_op(
      test("isinf", "x is plus or minus infinity.", ScalarOp::is_inf, [](double x) { return std::isinf(x); }));
  for (const Logic& op : kLogic) graph::register_op(logic(op));
  graph::register_op(logical_not());
  graph::register_op(where());
  graph::register_op(clamp());
}

}  // namespace stax::ops
