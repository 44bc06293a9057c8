// Spelling of scalar operations in C++, for vectors and for single values.
#pragma once
#include <string>
#include <string_view>

#include "codegen/common/expr_text.h"
#include "codegen/common/spelling.h"

namespace stax::codegen {

extern const ExprSpelling kCppExprSpelling;
// Plain operations; leaves, combines, casts and rounding have rules of their own.
const SpellingTable& cpp_vector_spelling();
// Operators on single values; empty: lane 0 of the vector operation.
const SpellingTable& cpp_scalar_spelling();
// The prelude snippet of the operation, or "" when the basic ones suffice.
std::string_view prelude_snippet_of(loop::ScalarOp op, Dtype operand);
// Integer divisions are checked for a zero divisor.
bool is_integer_division(loop::ScalarOp op, Dtype operand);

}  // namespace stax::codegen
