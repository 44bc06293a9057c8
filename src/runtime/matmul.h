// The matrix product of a device's library: out = activation(scale · a·b + bias) + residual.
#pragma once
#include <stax/tensor/dtype.h>
#include <stax/tensor/storage.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace stax::runtime {

enum class Activation : std::uint8_t { none, relu, gelu_erf, gelu_tanh, silu, sigmoid, tanh };
inline constexpr int kActivationCount = 7;
std::string_view to_text(Activation a);
std::optional<Activation> parse_activation(std::string_view text);

// Address of the first element and strides in elements, as many as there are batch dimensions plus two. Any strides; 0
// broadcasts. Null data: absent (bias, residual).
struct MatmulOperand {
  void* data = nullptr;
  std::span<const std::int64_t> strides;
};

// a [batch…, m, k], b [batch…, k, n]; bias, residual and out [batch…, m, n]. All have `dtype`; half types accumulate in
// f32 and round once, integers wrap at their width (activations: floating dtypes only). k = 0 gives activation(bias) +
// residual. `out` must not overlap the operands nor itself.
struct MatmulArgs {
  Dtype dtype = Dtype::f32;
  std::span<const std::int64_t> batch;
  std::int64_t m = 0, n = 0, k = 0;
  MatmulOperand a, b, out, bias, residual;
  Activation activation = Activation::none;
  double scale = 1.0;
  // Set when b is a constant weight: its storage, under whose (id, version) a packed copy is kept while the version is
  // trusted. Null: b is read as it is.
  const std::shared_ptr<Storage>* weight = nullptr;
};

// What the compiler asks before it plans a product.
struct MatmulKind {
  Dtype dtype = Dtype::f32;
  Activation activation = Activation::none;
  bool bias = false, residual = false;
};

}  // namespace stax::runtime
