#include "codegen/cpp/spelling.h"

namespace stax::codegen {
namespace {

using loop::ScalarOp;
constexpr std::size_t at(ScalarOp op) { return static_cast<std::size_t>(op); }

constexpr SpellingTable make_vector_table() {
  SpellingTable t{};
  auto same = [&](ScalarOp op, std::string_view s) { t[at(op)] = {s, s, {}}; };
  auto floats = [&](ScalarOp op, std::string_view s) { t[at(op)] = {s, {}, {}}; };
  same(ScalarOp::neg, "-{0}");
  same(ScalarOp::abs, "v::abs({0})");
  same(ScalarOp::sign, "v::sign({0})");
  same(ScalarOp::add, "{0} + {1}");
  same(ScalarOp::sub, "{0} - {1}");
  same(ScalarOp::mul, "{0} * {1}");
  floats(ScalarOp::div, "{0} / {1}");
  floats(ScalarOp::fma, "v::fma({0}, {1}, {2})");
  same(ScalarOp::floor_div, "v::floor_div({0}, {1})");
  same(ScalarOp::trunc_div, "v::trunc_div({0}, {1})");
  same(ScalarOp::floor_mod, "v::floor_mod({0}, {1})");
  same(ScalarOp::trunc_mod, "v::trunc_mod({0}, {1})");
  t[at(ScalarOp::max)] = {"v::max({0}, {1})", "v::max({0}, {1})", "{0} | {1}"};
  t[at(ScalarOp::min)] = {"v::min({0}, {1})", "v::min({0}, {1})", "{0} & {1}"};
  t[at(ScalarOp::pow)] = {"v::pow({0}, {1})", "v::int_pow({0}, {1})", {}};
  floats(ScalarOp::exp, "v::exp({0})");
  floats(ScalarOp::exp2, "v::exp2({0})");
  floats(ScalarOp::expm1, "v::expm1({0})");
  floats(ScalarOp::log, "v::log({0})");
  floats(ScalarOp::log2, "v::log2({0})");
  floats(ScalarOp::log1p, "v::log1p({0})");
  floats(ScalarOp::sqrt, "v::sqrt({0})");
  floats(ScalarOp::rsqrt, "v::rsqrt({0})");
  floats(ScalarOp::tanh, "v::tanh({0})");
  floats(ScalarOp::erf, "v::erf({0})");
  floats(ScalarOp::sigmoid, "v::sigmoid({0})");
  floats(ScalarOp::sin, "v::sin({0})");
  floats(ScalarOp::cos, "v::cos({0})");
  t[at(ScalarOp::floor)] = {"v::floor({0})", "{0}", {}};
  t[at(ScalarOp::ceil)] = {"v::ceil({0})", "{0}", {}};
  t[at(ScalarOp::round)] = {"v::round({0})", "{0}", {}};
  t[at(ScalarOp::trunc)] = {"v::trunc({0})", "{0}", {}};
  t[at(ScalarOp::eq)] = {"v::eq({0}, {1})", "v::eq({0}, {1})", "~({0} ^ {1})"};
  t[at(ScalarOp::ne)] = {"v::ne({0}, {1})", "v::ne({0}, {1})", "{0} ^ {1}"};
  t[at(ScalarOp::lt)] = {"v::lt({0}, {1})", "v::lt({0}, {1})", "~{0} & {1}"};
  t[at(ScalarOp::le)] = {"v::le({0}, {1})", "v::le({0}, {1})", "~{0} | {1}"};
  floats(ScalarOp::is_nan, "v::is_nan({0})");
  floats(ScalarOp::is_inf, "v::is_inf({0})");
  t[at(ScalarOp::bit_and)] = {{}, "{0} & {1}", "{0} & {1}"};
  t[at(ScalarOp::bit_or)] = {{}, "{0} | {1}", "{0} | {1}"};
  t[at(ScalarOp::bit_xor)] = {{}, "{0} ^ {1}", "{0} ^ {1}"};
  t[at(ScalarOp::bit_not)] = {{}, "~{0}", "~{0}"};
  t[at(ScalarOp::select)] = {"v::select({0}, {1}, {2})", "v::select({0}, {1}, {2})", "v::select({0}, {1}, {2})"};
  return t;
}

constexpr SpellingTable make_scalar_table() {
  SpellingTable t{};
  auto same = [&](ScalarOp op, std::string_view s) { t[at(op)] = {s, s, {}}; };
  auto any = [&](ScalarOp op, std::string_view s) { t[at(op)] = {s, s, s}; };
  auto floats = [&](ScalarOp op, std::string_view s) { t[at(op)] = {s, {}, {}}; };
  same(ScalarOp::neg, "-{0}");
  same(ScalarOp::add, "{0} + {1}");
  same(ScalarOp::sub, "{0} - {1}");
  same(ScalarOp::mul, "{0} * {1}");
  floats(ScalarOp::div, "{0} / {1}");
  floats(ScalarOp::fma, "v::fma({0}, {1}, {2})");
  t[at(ScalarOp::max)].boolean = "{0} | {1}";
  t[at(ScalarOp::min)].boolean = "{0} & {1}";
  for (ScalarOp op : {ScalarOp::floor, ScalarOp::ceil, ScalarOp::round, ScalarOp::trunc}) t[at(op)].integer = "{0}";
  any(ScalarOp::eq, "{0} == {1}");
  any(ScalarOp::ne, "{0} != {1}");
  any(ScalarOp::lt, "{0} < {1}");
  any(ScalarOp::le, "{0} <= {1}");
  floats(ScalarOp::is_nan, "{0} != {0}");
  t[at(ScalarOp::bit_and)] = {{}, "{0} & {1}", "{0} & {1}"};
  t[at(ScalarOp::bit_or)] = {{}, "{0} | {1}", "{0} | {1}"};
  t[at(ScalarOp::bit_xor)] = {{}, "{0} ^ {1}", "{0} ^ {1}"};
  t[at(ScalarOp::bit_not)] = {{}, "~{0}", "!{0}"};
  any(ScalarOp::select, "{0} ? {1} : {2}");
  return t;
}

constexpr SpellingTable kVector = make_vector_table();
constexpr SpellingTable kScalar = make_scalar_table();

}  // namespace

const ExprSpelling kCppExprSpelling{
    .divide = "{0} / {1}",
    .modulo = "{0} % {1}",
    .floor_divide = "v::index_floor_div({0}, {1})",
    .floor_modulo = "v::index_floor_mod({0}, {1})",
    .ceil_divide = "v::index_ceil_div({0}, {1})",
    .trunc_divide = "{0} / {1}",
    .trunc_modulo = "{0} % {1}",
    .min = "v::index_min({0}, {1})",
    .max = "v::index_max({0}, {1})",
};

const SpellingTable& cpp_vector_spelling() { return kVector; }
const SpellingTable& cpp_scalar_spelling() { return kScalar; }

bool is_integer_division(ScalarOp op, Dtype operand) {
  return is_integral(operand) && (op == ScalarOp::floor_div || op == ScalarOp::trunc_div || op == ScalarOp::floor_mod ||
                                  op == ScalarOp::trunc_mod);
}

std::string_view prelude_snippet_of(ScalarOp op, Dtype operand) {
  switch (op) {
    case ScalarOp::exp:
      return "exp";
    case ScalarOp::exp2:
      return "exp2";
    case ScalarOp::expm1:
      return "expm1";
    case ScalarOp::log:
      return "log";
    case ScalarOp::log2:
      return "log2";
    case ScalarOp::log1p:
      return "log1p";
    case ScalarOp::sqrt:
    case ScalarOp::rsqrt:
      return "sqrt";
    case ScalarOp::tanh:
      return "tanh";
    case ScalarOp::erf:
      return "erf";
    case ScalarOp::sigmoid:
      return "sigmoid";
    case ScalarOp::sin:
    case ScalarOp::cos:
      return "trig";
    case ScalarOp::pow:
      return is_floating(operand) ? "pow" : "intdiv";
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::round:
    case ScalarOp::trunc:
      return is_floating(operand) ? "round" : "";
    case ScalarOp::floor_div:
    case ScalarOp::trunc_div:
    case ScalarOp::floor_mod:
    case ScalarOp::trunc_mod:
      return is_floating(operand) ? "fmod" : "intdiv";
    default:
      return "";
  }
}

}  // namespace stax::codegen
