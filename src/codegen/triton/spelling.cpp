#include "codegen/triton/spelling.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <bit>
#include <cmath>

#include "base/text.h"
#include "codegen/cpp/types.h"

namespace stax::codegen {
namespace {

using loop::ScalarOp;

std::string_view of_float(ScalarOp op, bool single) {
  switch (op) {
    case ScalarOp::neg:  // -x would be 0 - x
      return "{0} * -1.0";
    case ScalarOp::abs:
      return "tl.abs({0})";
    case ScalarOp::sign:
      return "stax_sign({0})";
    case ScalarOp::add:
      return "{0} + {1}";
    case ScalarOp::sub:
      return "{0} - {1}";
    case ScalarOp::mul:
      return "{0} * {1}";
    case ScalarOp::div:
      return single ? "tl.div_rn({0}, {1})" : "{0} / {1}";
    case ScalarOp::fma:
      return "tl.fma({0}, {1}, {2})";
    case ScalarOp::floor_div:
      return "stax_float_floor_div({0}, {1})";
    case ScalarOp::trunc_div:
      return single ? "libdevice.trunc(tl.div_rn({0}, {1}))" : "libdevice.trunc({0} / {1})";
    case ScalarOp::floor_mod:
      return "stax_float_floor_mod({0}, {1})";
    case ScalarOp::trunc_mod:
      return "libdevice.fmod({0}, {1})";
    case ScalarOp::max:
      return "tl.maximum({0}, {1}, tl.PropagateNan.ALL)";
    case ScalarOp::min:
      return "tl.minimum({0}, {1}, tl.PropagateNan.ALL)";
    case ScalarOp::pow:
      // libdevice's power of float32 is up to 8 ULP off.
      return single ? "libdevice.pow({0}.to(tl.float64), {1}.to(tl.float64)).to(tl.float32)"
                    : "libdevice.pow({0}, {1})";
    case ScalarOp::exp:
      return "libdevice.exp({0})";
    case ScalarOp::exp2:
      return "libdevice.exp2({0})";
    case ScalarOp::expm1:
      return "libdevice.expm1({0})";
    case ScalarOp::log:
      return "libdevice.log({0})";
    case ScalarOp::log2:
      return "libdevice.log2({0})";
    case ScalarOp::log1p:
      return "libdevice.log1p({0})";
    case ScalarOp::sqrt:
      return single ? "tl.sqrt_rn({0})" : "tl.sqrt({0})";
    case ScalarOp::rsqrt:
      return single ? "tl.div_rn(1.0, tl.sqrt_rn({0}))" : "1.0 / tl.sqrt({0})";
    case ScalarOp::tanh:
      return "libdevice.tanh({0})";
    case ScalarOp::erf:
      return "libdevice.erf({0})";
    case ScalarOp::sigmoid:
      return "stax_sigmoid({0})";
    case ScalarOp::sin:
      return "libdevice.sin({0})";
    case ScalarOp::cos:
      return "libdevice.cos({0})";
    case ScalarOp::floor:
      return "tl.floor({0})";
    case ScalarOp::ceil:
      return "tl.ceil({0})";
    case ScalarOp::round:
      return "libdevice.nearbyint({0})";
    case ScalarOp::trunc:
      return "libdevice.trunc({0})";
    case ScalarOp::is_nan:
      return "{0} != {0}";
    case ScalarOp::is_inf:
      return "tl.abs({0}) == float(\"inf\")";
    default:
      return {};
  }
}

std::string_view of_integer(ScalarOp op, bool is_signed) {
  switch (op) {
    case ScalarOp::neg:
      return "0 - {0}";
    case ScalarOp::abs:
      return is_signed ? "tl.abs({0})" : "{0}";
    case ScalarOp::sign:
      return "stax_sign({0})";
    case ScalarOp::add:
      return "{0} + {1}";
    case ScalarOp::sub:
      return "{0} - {1}";
    case ScalarOp::mul:
      return "{0} * {1}";
    case ScalarOp::floor_div:
      return is_signed ? "stax_int_floor_div({0}, {1})" : "stax_uint_div({0}, {1})";
    case ScalarOp::trunc_div:
      return is_signed ? "stax_int_div({0}, {1})" : "stax_uint_div({0}, {1})";
    case ScalarOp::floor_mod:
      return is_signed ? "stax_int_floor_mod({0}, {1})" : "stax_uint_mod({0}, {1})";
    case ScalarOp::trunc_mod:
      return is_signed ? "stax_int_mod({0}, {1})" : "stax_uint_mod({0}, {1})";
    case ScalarOp::max:
      return "tl.maximum({0}, {1})";
    case ScalarOp::min:
      return "tl.minimum({0}, {1})";
    case ScalarOp::pow:
      return is_signed ? "stax_int_pow({0}, {1}, 64)" : "stax_uint_pow({0}, {1}, 8)";
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::round:
    case ScalarOp::trunc:
      return "{0}";
    case ScalarOp::bit_and:
      return "{0} & {1}";
    case ScalarOp::bit_or:
      return "{0} | {1}";
    case ScalarOp::bit_xor:
      return "{0} ^ {1}";
    case ScalarOp::bit_not:
      return "~{0}";
    default:
      return {};
  }
}

std::string_view of_boolean(ScalarOp op) {
  switch (op) {
    case ScalarOp::max:
    case ScalarOp::bit_or:
      return "{0} | {1}";
    case ScalarOp::min:
    case ScalarOp::bit_and:
      return "{0} & {1}";
    case ScalarOp::eq:
      return "{0} == {1}";
    case ScalarOp::ne:
    case ScalarOp::bit_xor:
      return "{0} ^ {1}";
    case ScalarOp::lt:
      return "({0} == 0) & {1}";
    case ScalarOp::le:
      return "({0} == 0) | {1}";
    case ScalarOp::bit_not:
      return "{0} == 0";
    case ScalarOp::select:
      return "tl.where({0}, {1}, {2})";
    default:
      return {};
  }
}

}  // namespace

const ExprSpelling kTritonExprSpelling{
    .divide = "({0}) // ({1})",
    .modulo = "({0}) % ({1})",
    .floor_divide = "stax_index_floor_div({0}, {1})",
    .floor_modulo = "stax_index_floor_mod({0}, {1})",
    .ceil_divide = "stax_index_ceil_div({0}, {1})",
    .trunc_divide = "({0}) // ({1})",
    .trunc_modulo = "({0}) % ({1})",
    .min = "tl.minimum({0}, {1})",
    .max = "tl.maximum({0}, {1})",
    .written_multiple = 16,
};

std::string_view triton_spelling(ScalarOp op, Dtype operand) {
  if (operand == Dtype::boolean) return of_boolean(op);
  switch (op) {
    case ScalarOp::eq:
      return "{0} == {1}";
    case ScalarOp::ne:
      return "{0} != {1}";
    case ScalarOp::lt:
      return "{0} < {1}";
    case ScalarOp::le:
      return "{0} <= {1}";
    case ScalarOp::select:
      return "tl.where({0}, {1}, {2})";
    default:
      break;
  }
  if (is_floating(operand)) return of_float(op, operand == Dtype::f32);
  return of_integer(op, operand != Dtype::u8);
}

std::string_view triton_type(Dtype t) {
  switch (t) {
    case Dtype::boolean:
      return "tl.int1";
    case Dtype::u8:
      return "tl.uint8";
    case Dtype::i8:
      return "tl.int8";
    case Dtype::i16:
      return "tl.int16";
    case Dtype::i32:
      return "tl.int32";
    case Dtype::i64:
      return "tl.int64";
    case Dtype::f16:
      return "tl.float16";
    case Dtype::bf16:
      return "tl.bfloat16";
    case Dtype::f32:
      return "tl.float32";
    case Dtype::f64:
      return "tl.float64";
    default:
      throw InternalError(fmt::format("Triton kernels have no type for {}", to_text(t)));
  }
}

std::string_view triton_memory_type(Dtype t) { return t == Dtype::boolean ? "tl.int8" : triton_type(t); }

std::string_view triton_pointer(Dtype t) {
  switch (t) {
    case Dtype::boolean:
    case Dtype::i8:
      return "*i8";
    case Dtype::u8:
      return "*u8";
    case Dtype::i16:
      return "*i16";
    case Dtype::i32:
      return "*i32";
    case Dtype::i64:
      return "*i64";
    case Dtype::f16:
      return "*fp16";
    case Dtype::bf16:
      return "*bf16";
    case Dtype::f32:
      return "*fp32";
    case Dtype::f64:
      return "*fp64";
    default:
      throw InternalError(fmt::format("Triton kernels have no pointer to {}", to_text(t)));
  }
}

std::string triton_literal(std::uint64_t bits, Dtype t) {
  if (t == Dtype::boolean) return fmt::format("tl.full([], {}, tl.int1)", bits ? "True" : "False");
  if (!is_floating(t)) return fmt::format("tl.full([], {}, {})", static_cast<std::int64_t>(bits), triton_type(t));
  const bool single = t == Dtype::f32;
  const double v = single ? std::bit_cast<float>(static_cast<std::uint32_t>(bits)) : std::bit_cast<double>(bits);
  if (std::isnan(v) || (v == 0 && std::signbit(v)))
    return fmt::format("tl.full([], {:#x}, tl.uint{}).to({}, bitcast=True)", single ? bits & 0xffffffffU : bits,
                       single ? 32 : 64, triton_type(t));
  if (std::isinf(v)) return fmt::format("tl.full([], float(\"{}inf\"), {})", v < 0 ? "-" : "", triton_type(t));
  return fmt::format("tl.full([], {}, {})", base::float_text(v), triton_type(t));
}

std::uint64_t triton_extreme(Dtype t, bool largest) { return extreme_bits(t, largest); }

}  // namespace stax::codegen
