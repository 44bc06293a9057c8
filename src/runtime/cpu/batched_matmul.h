// Many small products, such as the heads of attention.
#pragma once
#include "runtime/cpu/matmul_problem.h"

namespace stax::runtime {

// Does the product and returns true where it can: float32, a batch that fills the threads, AVX-512, at most 96 rows and
// columns, no bias, activation or residual; rows of a and out contiguous, b contiguous along one of its axes.
bool batched_matmul(const MatmulProblem& p, int threads);

}  // namespace stax::runtime
