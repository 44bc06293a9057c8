// Matrix products by oneDNN. The only files that know the library: onednn_*.cpp.
#pragma once
#include "runtime/cpu/matmul.h"
#include "runtime/cpu/matmul_problem.h"

namespace stax::runtime {

// f32 and bf16, nothing of size 0. False when the library has no efficient form for it on this CPU (bf16 without
// AVX-512).
bool onednn_matmul(const MatmulProblem& p);

void onednn_add_stats(MatmulStats& stats);
void onednn_release();
void onednn_set_packed_limit(std::size_t bytes);

}  // namespace stax::runtime
