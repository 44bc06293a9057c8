// The parameters of a BERT encoder, as nested structures of tensors.
#pragma once
#include <stax/stax.h>

#include <string>
#include <vector>

namespace minilm {

// Sizes of MiniLM-L6.
inline constexpr int kHidden = 384, kHeads = 12, kHeadSize = kHidden / kHeads, kIntermediate = 1536, kLayers = 6;
inline constexpr float kNormEpsilon = 1e-12f;

struct Linear {
  stax::Tensor weight, bias;  // [outputs, inputs], [outputs]
};

struct Norm {
  stax::Tensor weight, bias;  // [hidden]
};

struct Layer {
  Linear query_key_value;  // the three projections of attention, one below the other: [3 * hidden, hidden]
  Linear attention_output;
  Norm attention_norm;
  Linear intermediate, output;
  Norm output_norm;
};

struct Weights {
  stax::Tensor words;      // [vocabulary, hidden]
  stax::Tensor positions;  // [longest text, hidden]
  stax::Tensor type;       // [hidden]: texts are all of the first of BERT's two types
  Norm embedding_norm;
  std::vector<Layer> layers;
};

// Maps model.safetensors and moves the tensors to `device` (on the CPU they stay in the file). They are converted to
// `dtype`. Throws stax::UserError when the file is damaged, or a tensor is missing or has another shape than
// MiniLM-L6's.
Weights load_weights(const std::string& path, stax::Device device, stax::Dtype dtype = stax::f32);

// Throws stax::UserError unless each word of a vocabulary has one row in the model's table of words.
void check_vocabulary(const std::string& vocabulary_path, size_t words, const std::string& model_path,
                      const Weights& weights);

}  // namespace minilm
