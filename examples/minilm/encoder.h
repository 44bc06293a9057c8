// The encoder as a function of tensors, traced by stax::compile.
#pragma once
#include "weights.h"

namespace minilm {

// Unit vectors [batch, hidden] in float32 of a batch of sentences. `ids`: token ids, [batch, length]; `mask`: float32
// of the same shape, 1 for a token and 0 for padding. Padding does not change the result of the other tokens. The
// layers compute in the dtype of the weights.
stax::Tensor encode(const Weights& weights, stax::Tensor ids, stax::Tensor mask);

}  // namespace minilm
