// Parts of the verifier.
#pragma once
#include "loop/text.h"

namespace stax::loop {

// Whether a dtype belongs to the operand class of the operation table.
bool takes(OperandClass c, Dtype t);
// Throws InternalError where units of the kernel are provably not independent, or where a buffer that the kernel
// stores is read at an address that another unit, or another iteration of the same phase, may write.
void verify_independence(const Program& p, const Kernel& k);
// Throws InternalError where an address provably leaves its buffer.
void verify_bounds(const Program& p, const Kernel& k);

}  // namespace stax::loop
