#include "codegen/common/can_emit.h"

#include <fmt/format.h>

namespace stax::codegen {
namespace {

using base::Decision;
using fmt::format;
using loop::CombineOp;
using loop::Kernel;
using loop::ScalarOp;
using loop::Value;

bool is_float8(Dtype t) { return is_half(t) && byte_size(t) == 1; }

Decision combine_decision(const Value& v) {
  const bool floats = v.combine == CombineOp::welford || v.combine == CombineOp::online_softmax;
  const bool arg = v.combine == CombineOp::argmax || v.combine == CombineOp::argmin;
  const bool truth = v.combine == CombineOp::any || v.combine == CombineOp::all;
  const bool numbers = v.combine == CombineOp::sum || v.combine == CombineOp::prod;
  if ((floats && !is_floating(v.dtype)) || (truth && v.dtype != Dtype::boolean) ||
      ((numbers || arg) && v.dtype == Dtype::boolean))
    return Decision::no(
        format("{} {} of {}", loop::info_of(v.op).name, loop::info_of(v.combine).name, to_text(v.dtype)));
  return Decision::yes();
}

Decision value_decision(const Kernel& k, const Value& v, HasSpelling has_spelling) {
  const auto name = loop::info_of(v.op).name;
  if (is_half(v.dtype)) return Decision::no(format("{} computes in {}", name, to_text(v.dtype)));
  switch (v.op) {
    case ScalarOp::constant:
    case ScalarOp::index:
    case ScalarOp::load:
    case ScalarOp::scalar:
    case ScalarOp::bounded:
    case ScalarOp::part:
    case ScalarOp::cast:
      return Decision::yes();
    case ScalarOp::random:
      return v.dtype == Dtype::f32 ? Decision::yes() : Decision::no(format("random numbers in {}", to_text(v.dtype)));
    case ScalarOp::round_to:
      return is_float8(v.half) ? Decision::no(format("rounding to {}", to_text(v.half))) : Decision::yes();
    case ScalarOp::combine:
    case ScalarOp::scan:
      return combine_decision(v);
    default: {
      const Dtype operand = v.op == ScalarOp::select ? v.dtype : k.values[static_cast<std::size_t>(v.args[0])].dtype;
      return has_spelling(v.op, operand) ? Decision::yes() : Decision::no(format("{} of {}", name, to_text(operand)));
    }
  }
}

}  // namespace

Decision can_emit(const loop::Program& p, const Kernel& k, std::string_view target, HasSpelling has_spelling) {
  const auto float8 = [&](const loop::Access& a) {
    return is_float8(p.buffers[static_cast<std::size_t>(a.buffer)].dtype);
  };
  for (const loop::Access& a : loop::reads_of(k))
    if (float8(a)) return Decision::no(format("{} do not read float8", target));
  for (const loop::Access& a : loop::writes_of(k))
    if (float8(a)) return Decision::no(format("{} do not write float8", target));
  for (const Value& v : k.values)
    if (const Decision d = value_decision(k, v, has_spelling); !d)
      return Decision::no(format("{} have no {}", target, d.reason()));
  return Decision::yes();
}

}  // namespace stax::codegen
