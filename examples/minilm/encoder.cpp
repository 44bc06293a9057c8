#include "encoder.h"

#include <cmath>

namespace minilm {
namespace {

using stax::Dim;
using stax::Tensor;

Tensor apply(const Norm& norm, const Tensor& x) {
  return stax::layer_norm(x, {kHidden}, norm.weight, norm.bias, kNormEpsilon);
}

Tensor apply(const Linear& linear, const Tensor& x) { return stax::linear(x, linear.weight, linear.bias); }

// `bias` [batch, 1, 1, length] is added to the scores: 0 for tokens, far below any score for padding.
Tensor self_attention(const Layer& layer, const Tensor& x, const Tensor& bias) {
  const Dim batch = x.size(0), length = x.size(1);
  // [3, batch, heads, length, head size]
  const Tensor projected =
      apply(layer.query_key_value, x).reshape({batch, length, 3, kHeads, kHeadSize}).permute({2, 0, 3, 1, 4});
  const Tensor query = projected.select(0, 0), key = projected.select(0, 1), value = projected.select(0, 2);
  const float scale = 1 / std::sqrt(static_cast<float>(kHeadSize));
  const Tensor shares = stax::softmax(stax::matmul(query, key.transpose(-1, -2)) * scale + bias, -1);
  const Tensor heads = stax::matmul(shares, value).transpose(1, 2).reshape({batch, length, kHidden});
  return apply(layer.attention_output, heads);
}

Tensor feed_forward(const Layer& layer, const Tensor& x) {
  return apply(layer.output, stax::gelu(apply(layer.intermediate, x)));
}

}  // namespace

Tensor encode(const Weights& weights, Tensor ids, Tensor mask) {
  const Dim batch = ids.size(0), length = ids.size(1);
  const Tensor positions = weights.positions.index({stax::Slice(0, length)});
  Tensor x = apply(weights.embedding_norm, stax::embedding(weights.words, ids) + positions + weights.type);
  const Tensor bias = ((mask - 1.0f) * 1e9f).to(x.dtype()).reshape({batch, 1, 1, length});
  for (const Layer& layer : weights.layers) {
    x = apply(layer.attention_norm, self_attention(layer, x, bias) + x);
    x = apply(layer.output_norm, feed_forward(layer, x) + x);
  }
  const Tensor kept = mask.unsqueeze(-1);
  const Tensor mean = stax::sum(x.to(stax::f32) * kept, 1) / stax::sum(kept, 1);
  return mean * stax::rsqrt(stax::sum(mean * mean, -1, true));
}

}  // namespace minilm
