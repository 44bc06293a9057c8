// Products of few rows with a packed weight: bound by reading the weight, which is fetched ahead. Includes dnnl: for
// onednn_*.cpp and few_rows.cpp only.
#pragma once
#include "runtime/cpu/onednn_weights.h"

namespace stax::runtime::onednn {

// Does the product and returns true where it can: float32, at most 16 rows, AVX-512, a weight in panels of 64 columns,
// no activation or the GELU of erf. The operands are row-major; `weight` is p.b packed.
bool few_rows_matmul(const MatmulProblem& p, const std::shared_ptr<PackedWeight>& weight, int threads);

}  // namespace stax::runtime::onednn
