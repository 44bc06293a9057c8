// How a target writes the scalar operations: one table a target, keyed by ScalarOp and operand kind.
#pragma once
#include <array>
#include <string_view>

#include <stax/tensor/dtype.h>
#include "loop/scalar_ops.h"

namespace stax::codegen {

// Patterns over {0}, {1}, {2} (operands) and {T} (element type of the first operand that is no condition). An empty
// pattern: the target has no plain spelling for that kind.
struct OpSpelling {
  std::string_view floating, integer, boolean;
  std::string_view of(Dtype operand) const {
    return is_floating(operand) ? floating : operand == Dtype::boolean ? boolean : integer;
  }
};

using SpellingTable = std::array<OpSpelling, loop::kScalarOpCount>;

}  // namespace stax::codegen
