#include "weights.h"

#include <fmt/format.h>

#include <map>

namespace minilm {
namespace {

using stax::Shape;
using stax::Tensor;

class Reader {
 public:
  Reader(const std::string& path, stax::Device device, stax::Dtype dtype)
      : path_(path), device_(device), dtype_(dtype), tensors_(stax::load_safetensors(path)) {}

  // `shape` must be that of the tensor.
  Tensor tensor(const std::string& name, const Shape& shape) const { return placed(checked(name, shape)); }

  Linear linear(const std::string& name, int outputs, int inputs) const {
    return {tensor(name + ".weight", {outputs, inputs}), tensor(name + ".bias", {outputs})};
  }

  Norm norm(const std::string& name) const {
    return {tensor(name + ".weight", {kHidden}), tensor(name + ".bias", {kHidden})};
  }

  // Projections that read the same input, one below the other, so that they are one product.
  Linear joined(const std::vector<std::string>& names) const {
    std::vector<float> weight, bias;
    for (const std::string& name : names) {
      append(checked(name + ".weight", {kHidden, kHidden}), &weight);
      append(checked(name + ".bias", {kHidden}), &bias);
    }
    const int outputs = kHidden * static_cast<int>(names.size());
    return {placed(stax::from_vector(weight, {outputs, kHidden})), placed(stax::from_vector(bias, {outputs}))};
  }

  Layer layer(const std::string& name) const {
    const std::string attention = name + ".attention.";
    return {joined({attention + "self.query", attention + "self.key", attention + "self.value"}),
            linear(attention + "output.dense", kHidden, kHidden),
            norm(attention + "output.LayerNorm"),
            linear(name + ".intermediate.dense", kIntermediate, kHidden),
            linear(name + ".output.dense", kHidden, kIntermediate),
            norm(name + ".output.LayerNorm")};
  }

  // The number of rows may be any.
  Tensor table(const std::string& name) const {
    const Tensor found = find(name);
    if (found.rank() != 2) wrong(name, found, {0, kHidden});
    return tensor(name, {found.size(0), kHidden});
  }

 private:
  Tensor placed(const Tensor& tensor) const { return tensor.to(device_).to(dtype_); }

  const Tensor& find(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end())
      throw stax::UserError(fmt::format("the model {} lacks the tensor '{}'", path_, name), {}, kRemedy);
    return found->second;
  }

  [[noreturn]] void wrong(const std::string& name, const Tensor& found, const Shape& shape) const {
    throw stax::UserError(fmt::format("the tensor '{}' of the model {} is {} {}; expected is {} {}", name, path_,
                                      stax::to_string(found.dtype()), stax::to_string(found.shape()),
                                      stax::to_string(stax::f32), stax::to_string(shape)),
                          {}, kRemedy);
  }

  const Tensor& checked(const std::string& name, const Shape& shape) const {
    const Tensor& found = find(name);
    if (found.dtype() != stax::f32 || found.shape() != shape) wrong(name, found, shape);
    return found;
  }

  static void append(const Tensor& tensor, std::vector<float>* values) {
    const std::vector<float> more = tensor.to_vector<float>();
    values->insert(values->end(), more.begin(), more.end());
  }

  static constexpr const char* kRemedy = "Use the files of all-MiniLM-L6-v2.";
  std::string path_;
  stax::Device device_;
  stax::Dtype dtype_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace

Weights load_weights(const std::string& path, stax::Device device, stax::Dtype dtype) {
  const Reader reader(path, device, dtype);
  Weights weights{reader.table("embeddings.word_embeddings.weight"),
                  reader.table("embeddings.position_embeddings.weight"),
                  reader.tensor("embeddings.token_type_embeddings.weight", {2, kHidden}).select(0, 0),
                  reader.norm("embeddings.LayerNorm"),
                  {}};
  for (int i = 0; i < kLayers; ++i) weights.layers.push_back(reader.layer(fmt::format("encoder.layer.{}", i)));
  return weights;
}

void check_vocabulary(const std::string& vocabulary_path, size_t words, const std::string& model_path,
                      const Weights& weights) {
  const auto rows = static_cast<size_t>(weights.words.size(0).value());
  if (words != rows)
    throw stax::UserError(fmt::format("the vocabulary {} has {} words, but the model {} has vectors for {}",
                                      vocabulary_path, words, model_path, rows),
                          {}, "Use the vocab.txt and the model.safetensors of one model.");
}

}  // namespace minilm
