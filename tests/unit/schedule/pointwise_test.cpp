// Every scalar operation on every dtype, around the vector width, against the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/cpp/emit.h"
#include "run_kernels.h"

namespace stax::test {
namespace {

using loop::OperandClass;
using loop::ScalarOp;

bool takes(OperandClass c, Dtype t) {
  switch (c) {
    case OperandClass::a:
      return true;
    case OperandClass::n:
      return t != Dtype::boolean;
    case OperandClass::f:
      return is_floating(t);
    case OperandClass::i:
      return is_integral(t);
    case OperandClass::b:
      return t == Dtype::boolean;
    case OperandClass::l:
      return !is_floating(t);
    default:
      return false;
  }
}

constexpr Dtype kCompute[] = {Dtype::boolean, Dtype::u8,  Dtype::i8,  Dtype::i16,
                              Dtype::i32,     Dtype::i64, Dtype::f32, Dtype::f64};

// Approximated functions differ by a few units in the last place of f32; f64 goes through the C library.
double tolerance_of(ScalarOp op) {
  switch (op) {
    case ScalarOp::exp:
    case ScalarOp::exp2:
    case ScalarOp::expm1:
    case ScalarOp::log:
    case ScalarOp::log2:
    case ScalarOp::log1p:
    case ScalarOp::tanh:
    case ScalarOp::erf:
    case ScalarOp::sigmoid:
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::pow:
    case ScalarOp::floor_div:
    case ScalarOp::floor_mod:
    case ScalarOp::trunc_mod:
      return 1e-6;
    default:
      return 0;
  }
}

std::string program_of(ScalarOp op, Dtype t) {
  const loop::ScalarOpInfo& info = loop::info_of(op);
  const std::string dtype(to_text(t));
  const bool truth = info.result == loop::ResultRule::boolean;
  std::string text = "program p\nsizes s0 in [0, 100000000]\n", loads, args;
  const bool select = op == ScalarOp::select;
  for (int i = 0; i < info.arity; ++i) {
    const std::string in = select && i == 0 ? "boolean" : dtype;
    text += fmt::format("buffer b{}: {}[s0] input\n", i, in);
    loads += fmt::format("    %{0} = load.{1} b{0}[i0]\n", i, in);
    args += fmt::format(" %{}", i);
  }
  text += fmt::format("buffer b{}: {}[s0] output\nkernel k outer (i0 < s0) {{\n  phase {{\n", info.arity,
                      truth ? "boolean" : dtype);
  text += loads;
  const bool divides = is_integral(t) && (op == ScalarOp::floor_div || op == ScalarOp::trunc_div ||
                                          op == ScalarOp::floor_mod || op == ScalarOp::trunc_mod);
  int next = info.arity;
  if (divides) {  // no zero divisor
    text += fmt::format(
        "    %2 = constant.{0} 0\n    %3 = constant.{0} 3\n    %4 = eq %1 %2\n    %5 = select.{0} %4 %3 %1\n", dtype);
    args = " %0 %5";
    next = 6;
  }
  text += fmt::format("    %{} = {}{}{}\n", next, info.name, truth ? "" : "." + dtype, args);
  text += fmt::format("    store b{}[i0] %{}\n  }}\n}}\nreturn b{} [s0] strides (1)\n", info.arity, next, info.arity);
  return text;
}

std::vector<Check> all_operations() {
  std::vector<Check> checks;
  for (int i = 0; i < loop::kScalarOpCount; ++i) {
    const auto op = static_cast<ScalarOp>(i);
    const loop::ScalarOpInfo& info = loop::info_of(op);
    if (info.arity == 0 || op == ScalarOp::bounded || op == ScalarOp::combine || op == ScalarOp::scan ||
        op == ScalarOp::part || op == ScalarOp::cast || op == ScalarOp::round_to)
      continue;
    for (Dtype t : kCompute) {
      if (!takes(info.operands, t)) continue;
      Check c;
      c.text = program_of(op, t);
      c.sizes = {{0}, {1}, {2}, {15}, {16}, {17}, {31}, {33}, {1000}};
      c.tolerance = is_floating(t) ? tolerance_of(op) : 0;
      c.special = true;
      checks.push_back(c);
    }
  }
  return checks;
}

class PointwiseWidths : public testing::TestWithParam<int> {};

TEST_P(PointwiseWidths, OperationsAgreeWithTheInterpreter) { check_all(all_operations(), GetParam(), 2); }

INSTANTIATE_TEST_SUITE_P(VectorBytes, PointwiseWidths, testing::Values(16, 32, 64));

// From every dtype to every dtype, half types included, on special values; halves round once at the store.
TEST_P(PointwiseWidths, ConversionsAgreeWithTheInterpreter) {
  constexpr Dtype kAll[] = {Dtype::boolean, Dtype::u8,  Dtype::i8,   Dtype::i16, Dtype::i32,
                            Dtype::i64,     Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64};
  std::vector<Check> checks;
  for (Dtype from : kAll)
    for (Dtype to : kAll) {
      const Dtype a = compute_dtype(from), b = compute_dtype(to);
      const std::string cast = a == b ? "" : fmt::format("    %1 = cast.{} %0\n", to_text(b));
      checks.push_back(
          {.text = fmt::format(
               "program p\nsizes s0 in [0, 100000000]\nbuffer b0: {}[s0] input\nbuffer b1: {}[s0] output\n"
               "kernel k outer (i0 < s0) {{\n  phase {{\n    %0 = load.{} b0[i0]\n{}    store b1[i0] %{}\n  }}\n}}\n"
               "return b1 [s0] strides (1)\n",
               to_text(from), to_text(to), to_text(a), cast, a == b ? 0 : 1),
           .sizes = {{0}, {1}, {15}, {16}, {33}, {1000}},
           .special = true});
    }
  check_all(checks, GetParam(), 1);
}

}  // namespace
}  // namespace stax::test
