#include "codegen/cpp/kernel_emitter.h"

namespace stax::codegen {

void KernelEmitter::emit_tiles() { throw InternalError("tiles"); }

}  // namespace stax::codegen
