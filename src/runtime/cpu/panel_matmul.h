// Products with a packed weight in AVX-512 registers. Includes dnnl: for onednn_*.cpp and panel_matmul.cpp only.
#pragma once
#include "runtime/cpu/onednn_weights.h"

namespace stax::runtime::onednn {

// Does the product and returns true where it can: float32, AVX-512, a weight in panels of 64 columns, no activation or
// the GELU of erf. The operands are row-major; `weight` is p.b packed.
bool panel_matmul(const MatmulProblem& p, const std::shared_ptr<PackedWeight>& weight, int threads);

}  // namespace stax::runtime::onednn
