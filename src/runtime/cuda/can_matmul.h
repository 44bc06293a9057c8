// What cuBLASLt computes in one call.
#pragma once
#include "base/decision.h"
#include "runtime/matmul.h"

namespace stax::runtime {

base::Decision cuda_can_matmul(const MatmulKind& kind);

}  // namespace stax::runtime
