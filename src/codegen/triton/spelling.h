// How Triton writes the scalar operations.
#pragma once
#include <string>
#include <string_view>

#include <stax/tensor/dtype.h>
#include "codegen/common/expr_text.h"
#include "loop/scalar_ops.h"

namespace stax::codegen {

extern const ExprSpelling kTritonExprSpelling;

// The pattern over {0}, {1}, {2} of a plain operation on operands of a compute dtype; empty: there is none. Leaves,
// combines, scans, conversions and rounding have rules of their own.
std::string_view triton_spelling(loop::ScalarOp op, Dtype operand);

std::string_view triton_type(Dtype compute);   // "tl.float32", "tl.int1": of values
std::string_view triton_memory_type(Dtype t);  // "tl.bfloat16", "tl.int8" for boolean: behind pointers
std::string_view triton_pointer(Dtype t);      // "*bf16": in signatures
// A scalar of exactly these bits (loop::Value::bits).
std::string triton_literal(std::uint64_t bits, Dtype compute);
// Bits of the largest or smallest value: infinities for floats.
std::uint64_t triton_extreme(Dtype compute, bool largest);

}  // namespace stax::codegen
