#include "codegen/common/can_emit.h"

#include "codegen/cpp/emit.h"
#include "codegen/cpp/spelling.h"

namespace stax::codegen {

base::Decision can_emit_cpp(const loop::Program& p, const loop::Kernel& k) {
  return can_emit(p, k, "C++ kernels", [](loop::ScalarOp op, Dtype operand) {
    return !cpp_vector_spelling()[static_cast<std::size_t>(op)].of(operand).empty();
  });
}

}  // namespace stax::codegen
