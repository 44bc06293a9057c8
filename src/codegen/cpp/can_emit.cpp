#include <fmt/format.h>

#include "codegen/cpp/emit.h"
#include "codegen/cpp/spelling.h"

namespace stax::codegen {
namespace {

using base::Decision;
using fmt::format;
using loop::CombineOp;
using loop::Kernel;
using loop::kNoValue;
using loop::Program;
using loop::ScalarOp;
using loop::Value;

bool is_float8(Dtype t) { return is_half(t) && byte_size(t) == 1; }

Decision value_decision(const Kernel& k, const Value& v) {
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
    case ScalarOp::scan: {
      const auto combine = loop::info_of(v.combine).name;
      const bool floats = v.combine == CombineOp::welford || v.combine == CombineOp::online_softmax;
      const bool arg = v.combine == CombineOp::argmax || v.combine == CombineOp::argmin;
      const bool truth = v.combine == CombineOp::any || v.combine == CombineOp::all;
      const bool numbers = v.combine == CombineOp::sum || v.combine == CombineOp::prod;
      if ((floats && !is_floating(v.dtype)) || (truth && v.dtype != Dtype::boolean) ||
          ((numbers || arg) && v.dtype == Dtype::boolean))
        return Decision::no(format("{} {} of {}", name, combine, to_text(v.dtype)));
      return Decision::yes();
    }
    default: {
      const Dtype operand = v.op == ScalarOp::select ? v.dtype : k.values[static_cast<std::size_t>(v.args[0])].dtype;
      if (!cpp_vector_spelling()[static_cast<std::size_t>(v.op)].of(operand).empty()) return Decision::yes();
      return Decision::no(format("{} of {}", name, to_text(operand)));
    }
  }
}

}  // namespace

Decision can_emit_cpp(const Program& p, const Kernel& k) {
  for (const loop::Access& a : loop::reads_of(k))
    if (is_float8(p.buffers[static_cast<std::size_t>(a.buffer)].dtype))
      return Decision::no("C++ kernels do not read float8");
  for (const loop::Access& a : loop::writes_of(k))
    if (is_float8(p.buffers[static_cast<std::size_t>(a.buffer)].dtype))
      return Decision::no("C++ kernels do not write float8");
  for (const Value& v : k.values)
    if (const Decision d = value_decision(k, v); !d) return Decision::no("C++ kernels have no " + d.reason());
  return Decision::yes();
}

}  // namespace stax::codegen
