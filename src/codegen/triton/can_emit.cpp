#include "codegen/common/can_emit.h"

#include "codegen/triton/emit.h"
#include "codegen/triton/spelling.h"

namespace stax::codegen {

base::Decision can_emit_triton(const loop::Program& p, const loop::Kernel& k) {
  return can_emit(p, k, "Triton kernels",
                  [](loop::ScalarOp op, Dtype operand) { return !triton_spelling(op, operand).empty(); });
}

}  // namespace stax::codegen
