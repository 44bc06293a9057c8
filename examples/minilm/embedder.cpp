#include "embedder.h"

#include <algorithm>

namespace minilm {

Embedder::Embedder(const std::string& folder, stax::Device device, stax::Dtype dtype)
    : tokenizer_(Vocabulary::load(folder + "/vocab.txt")),
      weights_path_(folder + "/model.safetensors"),
      device_(device),
      weights_(load_weights(weights_path_, device, dtype)),
      encode_(stax::compile(Encode([weights = weights_](stax::Tensor ids, stax::Tensor mask) {
                              return minilm::encode(weights, std::move(ids), std::move(mask));
                            }),
                            {.dynamic = stax::Dynamic::yes, .fullgraph = true, .strict_native = true})) {
  check_vocabulary(folder + "/vocab.txt", tokenizer_.vocabulary().size(), weights_path_, weights_);
}

std::vector<float> Embedder::embed(std::span<const std::string> sentences) {
  std::vector<std::vector<int32_t>> ids;
  ids.reserve(sentences.size());
  for (const std::string& sentence : sentences) ids.push_back(tokenizer_.encode(sentence));
  return embed_ids(ids);
}

std::vector<float> Embedder::embed_ids(std::span<const std::vector<int32_t>> ids) {
  std::vector<size_t> lengths;
  for (const auto& one : ids) lengths.push_back(one.size());
  std::vector<float> vectors(ids.size() * kHidden);
  for (const Batch& batch : make_batches(lengths)) {
    const PaddedBatch padded = pad_batch(batch, ids, tokenizer_.vocabulary().pad());
    const stax::Shape shape{padded.sentences, padded.length};
    const stax::Tensor result =
        encode_(stax::from_vector(padded.ids, shape).to(device_), stax::from_vector(padded.mask, shape).to(device_));
    const std::vector<float> rows = result.to(stax::cpu).to_vector<float>();
    for (size_t i = 0; i < batch.sentences.size(); ++i)
      std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(i) * kHidden, kHidden,
                  vectors.begin() + static_cast<std::ptrdiff_t>(batch.sentences[i]) * kHidden);
  }
  return vectors;
}

}  // namespace minilm
