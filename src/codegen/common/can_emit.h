// What every target refuses; targets differ in the spellings that they have.
#pragma once
#include <string_view>

#include "base/decision.h"
#include "loop/ir.h"

namespace stax::codegen {

// Whether the target writes a plain operation on operands of a compute dtype.
using HasSpelling = bool (*)(loop::ScalarOp op, Dtype operand);

// `target` begins the reasons: "C++ kernels".
base::Decision can_emit(const loop::Program& p, const loop::Kernel& k, std::string_view target,
                        HasSpelling has_spelling);

}  // namespace stax::codegen
