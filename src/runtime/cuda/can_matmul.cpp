#include "runtime/cuda/can_matmul.h"

#include <fmt/format.h>

namespace stax::runtime {

base::Decision cuda_can_matmul(const MatmulKind& kind) {
  using base::Decision;
  if (kind.dtype != Dtype::f16 && kind.dtype != Dtype::bf16 && kind.dtype != Dtype::f32 && kind.dtype != Dtype::f64)
    return Decision::no(fmt::format("cuBLASLt has no product of {}", to_string(kind.dtype)));
  const bool activates = kind.activation != Activation::none;
  if (kind.dtype == Dtype::f64 && (activates || kind.bias)) return Decision::no("cuBLASLt has no epilogue for f64");
  // Seen on an H200 with cuBLASLt 13.1: some of its kernels turn NaN into 0 there.
  if (kind.activation == Activation::relu) return Decision::no("cuBLASLt's relu does not keep NaN");
  if (activates && kind.activation != Activation::gelu_tanh)
    return Decision::no(fmt::format("cuBLASLt has no epilogue {}", to_text(kind.activation)));
  // Its tanh is right to 11 bits.
  if (activates && kind.dtype == Dtype::f32) return Decision::no("cuBLASLt's gelu_tanh is not exact enough for f32");
  // The library adds the residual before the activation.
  if (activates && kind.residual) return Decision::no("cuBLASLt adds a residual before the activation");
  return Decision::yes();
}

}  // namespace stax::runtime
