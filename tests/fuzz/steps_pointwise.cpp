// Pointwise operators: arithmetic is exact on exactly known values (one IEEE operation, rounded once); functions carry
// a bound; what jumps (comparisons, rounding, integer casts) is applied to exactly known values only.
#include <algorithm>

#include "steps.h"

namespace stax::fuzz {

namespace {

using Maybe = std::optional<Known>;
using Int = std::int64_t;

const Facts kTruth{true, true, 1, 0};

Dtype promoted(const Known& a, const Known& b) {
  const PromotionOperand both[] = {{type_of(a).dtype, type_of(a).scalar, rank_of(a) == 0},
                                   {type_of(b).dtype, type_of(b).scalar, rank_of(b) == 0}};
  return promote_all(both);
}

// The second operand: a number, or a value that broadcasts. Either may be first.
std::pair<Known, Known> operands(Builder& b, const Step& s, Random& r) {
  Known x = b.value(s.a);
  Known y = r.chance(20)
                ? (r.chance(50) ? b.literal(static_cast<double>(r.between(-6, 6)) / 2) : b.literal(r.between(-3, 3)))
                : b.partner(x, s.b);
  if (type_of(x).scalar && type_of(y).scalar)
    x = b.add("full", {x.value}, {{"sizes", std::vector<Int>{2}}, {"dtype", type_of(x).dtype}}, x.facts);
  if (is_floating(promoted(x, y))) x = b.tame(x), y = b.tame(y);
  if (r.chance(30)) std::swap(x, y);
  return {x, y};
}

// Operands that are converted to a narrower float round once more when they are not exact.
Facts sum_facts(const Facts& x, const Facts& y, Dtype t) {
  Facts f{x.exact && y.exact, x.whole && y.whole, x.magnitude + y.magnitude, x.error + y.error};
  if (!f.exact) f = rounded(f, t, 3);
  return f;
}

// A whole number that the dtype cannot hold is rounded on conversion and is whole no longer than that.
bool fits(const Known& k, Dtype t) {
  return !is_floating(t) || k.facts.magnitude <= exact_limit(t) || is_floating(type_of(k).dtype);
}

Maybe arithmetic(Builder& b, const Step& s, Random& r) {
  auto [x, y] = operands(b, s, r);
  const char* op = r.pick(std::vector<const char*>{"add", "sub", "mul", "add", "mul", "maximum", "minimum"});
  const Dtype t = promoted(x, y);
  if (t == Dtype::boolean && std::string_view(op) == "sub") op = "add";
  Facts f = sum_facts(x.facts, y.facts, t);
  if (!fits(x, t) || !fits(y, t)) f.whole = false;
  if (std::string_view(op) == "mul") {
    f.magnitude = x.facts.magnitude == 0 || y.facts.magnitude == 0 ? 0 : x.facts.magnitude * y.facts.magnitude;
    if (!x.facts.finite() || !y.facts.finite()) f.magnitude = INFINITY;
    f.error = x.facts.error * y.facts.magnitude + y.facts.error * x.facts.magnitude + x.facts.error * y.facts.error;
    f.exact = x.facts.exact && y.facts.exact;
    if (!f.exact) f = rounded(f, t, 3);
  } else if (op[0] == 'm') {
    f.magnitude = std::max(x.facts.magnitude, y.facts.magnitude);
  }
  return b.add(op, {x.value, y.value}, {}, f);
}

Maybe divide(Builder& b, const Step& s, Random& r) {
  auto [x, y] = operands(b, s, r);
  x = b.tame(x), y = b.tame(y);
  if (x.facts.exact && y.facts.exact)  // one operation, also by zero
    return b.add("div", {x.value, y.value}, {}, {true, false, INFINITY, 0});
  const double by = r.chance(50) ? 3 : -0.75;
  if (type_of(x).scalar) return {};
  Facts f{false, false, x.facts.magnitude / std::fabs(by), x.facts.error / std::fabs(by)};
  return b.add("div", {x.value, b.literal(by).value}, {}, rounded(f, type_of(x).dtype, 2));
}

Maybe integer_division(Builder& b, const Step& s, Random& r) {
  auto [x, y] = operands(b, s, r);
  if (!x.facts.exact || !y.facts.exact) return {};
  const char* op = r.pick(std::vector<const char*>{"floor_divide", "trunc_divide", "floor_mod", "trunc_mod"});
  const Dtype t = promoted(x, y);
  if (t == Dtype::boolean) return {};
  if (is_floating(t)) {
    if (!x.facts.finite()) return {};
    static constexpr double kBy[] = {2, -3, 2.5, -0.5, 7};
    if (type_of(x).scalar) return {};
    return b.add(op, {x.value, b.literal(r.pick(kBy)).value}, {},
                 {true, x.facts.whole && op[0] != 't', 4 * x.facts.magnitude + 8, 0});
  }
  // 2y + 1 is odd, so never 0, also where it wraps.
  const Known twice = b.add("mul", {y.value, b.literal(Int{2}).value}, {}, {true, true, INFINITY, 0});
  const Known odd = b.add("add", {twice.value, b.literal(Int{1}).value}, {}, {true, true, INFINITY, 0});
  return b.add(op, {x.value, odd.value}, {}, {true, true, std::max(x.facts.magnitude, 2 * y.facts.magnitude + 1), 0});
}

Maybe comparison(Builder& b, const Step& s, Random& r) {
  auto [x, y] = operands(b, s, r);
  if (!x.facts.exact || !y.facts.exact) return {};
  return b.add(r.pick(std::vector<const char*>{"eq", "ne", "lt", "le", "gt", "ge"}), {x.value, y.value}, {}, kTruth);
}

Maybe logic(Builder& b, const Step& s, Random& r) {
  auto [x, y] = operands(b, s, r);
  if (!x.facts.exact || !y.facts.exact) return {};
  if (!type_of(x).scalar && r.chance(25)) return b.add("logical_not", {x.value}, {}, kTruth);
  return b.add(r.pick(std::vector<const char*>{"logical_and", "logical_or", "logical_xor"}), {x.value, y.value}, {},
               kTruth);
}

Maybe sign_like(Builder& b, const Step& s, Random& r) {
  const Known& x = b.value(s.a);
  if (type_of(x).scalar || type_of(x).dtype == Dtype::boolean) return {};
  const char* op = r.pick(std::vector<const char*>{"neg", "abs", "relu", "sign", "clone"});
  if (op[0] == 's' && !x.facts.exact) op = "neg";
  Facts f = x.facts;
  if (op[0] == 's' && f.finite()) f.magnitude = 1;
  return b.add(op, {x.value}, {}, f);
}

Maybe rounding(Builder& b, const Step& s, Random& r) {
  const Known& x = b.value(s.a);
  if (type_of(x).scalar || !x.facts.exact) return {};
  const Known t = b.tame(x);
  return b.add(r.pick(std::vector<const char*>{"floor", "ceil", "round", "trunc"}), {t.value}, {},
               {true, x.facts.finite(), t.facts.magnitude + 1, 0});
}

Maybe tests(Builder& b, const Step& s, Random& r) {
  const Known& x = b.value(s.a);
  if (type_of(x).scalar || !x.facts.exact) return {};
  return b.add(r.chance(50) ? "isnan" : "isinf", {x.value}, {}, kTruth);
}

// |f'| <= slope on the operand's range, |f| <= most.
struct Smooth {
  const char* op;
  double limit;  // operands are clamped to [-limit, limit]
  double slope, most;
  bool positive;  // of |x| + 1
};
const Smooth kSmooth[] = {
    {"exp", 8, 3000, 3000, false}, {"exp2", 8, 200, 256, false},    {"expm1", 8, 3000, 3000, false},
    {"tanh", 100, 1, 1, false},    {"erf", 100, 1.13, 1, false},    {"sigmoid", 100, 0.25, 1, false},
    {"sin", 1000, 1, 1, false},    {"cos", 1000, 1, 1, false},      {"log", 1e6, 1, 14, true},
    {"log2", 1e6, 1.5, 20, true},  {"log1p", 1e6, 0.5, 14, true},   {"sqrt", 1e6, 0.5, 1001, true},
    {"rsqrt", 1e6, 0.5, 1, true},  {"gelu", 100, 1.13, 100, false}, {"silu", 100, 1.1, 100, false}};

Maybe smooth(Builder& b, const Step& s, Random& r) {
  if (type_of(b.value(s.a)).scalar) return {};
  const Smooth& f = r.pick(kSmooth);
  Known x = b.bounded(b.as_float(b.value(s.a)), f.limit);
  const Dtype t = type_of(x).dtype;
  if (f.positive) {
    x = b.add("abs", {x.value}, {}, x.facts);
    x = b.add("add", {x.value, b.literal(1.0).value}, {}, sum_facts(x.facts, b.literal(1.0).facts, t));
  }
  if (std::string_view(f.op) == "sqrt" && x.facts.exact) return b.add("sqrt", {x.value}, {}, {true, false, f.most, 0});
  const bool gate = f.op[0] == 'g' || f.op == std::string_view("silu");
  const double m = x.facts.magnitude;
  const double most = f.op[0] == 'e' && f.op[1] == 'x' ? std::exp(m) + 1 : gate ? m + 1 : f.most;
  const double slope = f.op[0] == 'e' && f.op[1] == 'x' ? std::exp(m + 0.1) : f.slope;
  Attributes attributes;
  if (f.op[0] == 'g' && r.chance(50)) attributes["approximate"] = std::string("tanh");
  return b.add(f.op, {x.value}, attributes, rounded({false, false, most, slope * x.facts.error}, t, 8));
}

Maybe power(Builder& b, const Step& s, Random& r) {
  Known x = b.value(s.a);
  if (type_of(x).scalar || type_of(x).dtype == Dtype::boolean) return {};
  const Int n = r.between(0, 4);
  if (!is_floating(type_of(x).dtype)) return b.add("pow", {x.value, b.literal(n).value}, {}, {true, true, INFINITY, 0});
  x = b.bounded(x, 3);
  const double m = std::pow(3.1, static_cast<double>(n));
  return b.add("pow", {x.value, b.literal(n).value}, {},
               rounded({false, false, m, static_cast<double>(n) * m * x.facts.error}, type_of(x).dtype, 8));
}

Maybe clamp(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (type_of(x).scalar || type_of(x).dtype == Dtype::boolean) return {};
  const bool floating = is_floating(type_of(x).dtype);
  auto bound = [&](Int v) { return floating ? b.literal(static_cast<double>(v)).value : b.literal(v).value; };
  const Int lo = type_of(x).dtype == Dtype::u8 ? 0 : -r.between(0, 3), hi = r.between(0, 3);
  Facts f = x.facts;
  if (x.facts.finite()) f.magnitude = std::max(f.magnitude, 3.0);
  switch (r.below(3)) {
    case 0:
      return b.add("clamp", {x.value, bound(lo), Value{}}, {}, f);
    case 1:
      return b.add("clamp", {x.value, Value{}, bound(hi)}, {}, f);
    default:
      return b.add("clamp", {x.value, bound(lo), bound(hi)}, {}, f);
  }
}

Maybe where(Builder& b, const Step& s, Random& r) {
  auto [x, y] = operands(b, s, r);
  const Dtype t = promoted(x, y);
  Known condition = b.partner(x, s.c);
  if (!condition.facts.exact || type_of(condition).scalar) return {};
  if (type_of(condition).dtype != Dtype::boolean)
    condition = b.add("ne", {condition.value, b.literal(Int{0}).value}, {}, kTruth);
  Facts f{x.facts.exact && y.facts.exact, x.facts.whole && y.facts.whole && fits(x, t) && fits(y, t),
          std::max(x.facts.magnitude, y.facts.magnitude), std::max(x.facts.error, y.facts.error)};
  if (!f.exact) f = rounded(f, t);
  return b.add("where", {condition.value, x.value, y.value}, {}, f);
}

Maybe cast(Builder& b, const Step& s, Random& r) {
  static constexpr Dtype kTo[] = {Dtype::f32, Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16, Dtype::boolean,
                                  Dtype::u8,  Dtype::i8,  Dtype::i16, Dtype::i32, Dtype::i64};
  const Known x = b.value(s.a);
  const Dtype from = type_of(x).dtype, to = r.pick(kTo);
  if (type_of(x).scalar) return {};
  Facts f = x.facts;
  if (is_floating(to)) {
    const Known t = b.tame(x);
    f = t.facts;
    if (!f.exact) f = rounded(f, to);
    if (f.magnitude > exact_limit(to)) f.whole = false;
    return b.add("cast", {t.value}, {{"dtype", to}}, f);
  }
  if (!f.exact) return {};
  if (is_floating(from) && to != Dtype::boolean && !(f.magnitude < 120 && to != Dtype::u8)) return {};
  return b.add("cast", {x.value}, {{"dtype", to}},
               {true, true, is_floating(from) ? f.magnitude : std::max(f.magnitude, to == Dtype::u8 ? 256.0 : 0.0), 0});
}

// A size as a number.
Maybe size_factor(Builder& b, const Step& s, Random& r) {
  const Known x = b.value(s.a);
  if (rank_of(x) == 0 || type_of(x).dtype == Dtype::boolean) return {};
  const Expr size = type_of(x).sizes[static_cast<std::size_t>(r.below(rank_of(x)))];
  const double n = Builder::bound_of(size);
  const Known t = b.tame(x);
  Facts f = t.facts;
  const bool product = r.chance(50);
  f.magnitude = product ? f.magnitude * n : f.magnitude + n;
  if (product) f.error *= n;
  if (!f.exact) f = rounded(f, type_of(x).dtype, 3);
  return b.add(product ? "mul" : "add", {t.value, b.graph().size_value(size)}, {}, f);
}

}  // namespace

std::vector<StepKind> pointwise_steps() {
  return {{"arithmetic", 24, arithmetic},
          {"divide", 4, divide},
          {"integer_division", 3, integer_division},
          {"comparison", 4, comparison},
          {"logic", 2, logic},
          {"sign_like", 6, sign_like},
          {"rounding", 2, rounding},
          {"tests", 1, tests},
          {"smooth", 10, smooth},
          {"power", 1, power},
          {"clamp", 2, clamp},
          {"where", 5, where},
          {"cast", 6, cast},
          {"size_factor", 2, size_factor}};
}

}  // namespace stax::fuzz
