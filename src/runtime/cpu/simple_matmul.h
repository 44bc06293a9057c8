// Matrix products by own loops, for the dtypes that the library does not have, and the epilogue alone.
#pragma once
#include "runtime/cpu/matmul_problem.h"

namespace stax::runtime {

// f64 accumulates f64; integers wrap at their width. Any strides, any k. f32 is accepted too (for k = 0 and as a
// reference).
void simple_matmul(const MatmulProblem& p);

// out = relu(out) [+ residual] in place, NaN stays: f32, or bf16 without residual.
void relu_and_add(const MatmulProblem& p);

}  // namespace stax::runtime
