// Sentences to unit vectors: tokenizer, batches and the compiled encoder together.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "batches.h"
#include "encoder.h"
#include "tokenizer.h"

namespace minilm {

class Embedder {
 public:
  // Loads vocab.txt and model.safetensors of `folder`.
  Embedder(const std::string& folder, stax::Device device, stax::Dtype dtype = stax::f32);

  // One vector of kHidden numbers a sentence, one after another, in the order of the sentences.
  std::vector<float> embed(std::span<const std::string> sentences);

  // The same for token ids.
  std::vector<float> embed_ids(std::span<const std::vector<int32_t>> ids);

  const Tokenizer& tokenizer() const { return tokenizer_; }
  // Path of the weights' file.
  const std::string& weights_path() const { return weights_path_; }
  // How many versions of the encoder were compiled or loaded so far.
  size_t artifacts() const { return encode_.artifacts().size(); }

 private:
  using Encode = std::function<stax::Tensor(stax::Tensor, stax::Tensor)>;

  Tokenizer tokenizer_;
  std::string weights_path_;
  stax::Device device_;
  Weights weights_;
  decltype(stax::compile(Encode())) encode_;
};

}  // namespace minilm
