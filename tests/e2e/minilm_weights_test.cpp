// Models that are damaged, or are another model.
#if __has_include(<stax/stax.h>)
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "weights.h"

namespace minilm {
namespace {

// What load_weights says about a file of these bytes.
std::string problem(const std::string& bytes) {
  const auto path =
      std::filesystem::temp_directory_path() / ("stax-weights-" + std::to_string(getpid()) + ".safetensors");
  std::ofstream(path, std::ios::binary) << bytes;
  std::string text = "no error";
  try {
    load_weights(path.string(), stax::cpu);
  } catch (const stax::UserError& e) {
    text = e.problem();
  }
  std::filesystem::remove(path);
  if (const size_t at = text.find(path.string()); at != std::string::npos)
    text.replace(at, path.string().size(), "FILE");
  return text;
}

std::string safetensors(const std::string& json, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(json.size() >> (8 * i) & 0xFF);
  return bytes + json + data;
}

}  // namespace

TEST(WeightsErrors, MissingTensor) {
  EXPECT_EQ(problem(safetensors("{}", "")), "the model FILE lacks the tensor 'embeddings.word_embeddings.weight'");
}

TEST(WeightsErrors, AnotherShape) {
  EXPECT_EQ(
      problem(safetensors(R"({"embeddings.word_embeddings.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})",
                          "12345678")),
      "the tensor 'embeddings.word_embeddings.weight' of the model FILE is f32 [1, 2]; expected is f32 [1, 384]");
}

TEST(WeightsErrors, AnotherDtype) {
  EXPECT_EQ(problem(safetensors(
                R"({"embeddings.word_embeddings.weight":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]}})", "1234")),
            "the tensor 'embeddings.word_embeddings.weight' of the model FILE is f16 [1, 2]; expected is f32 [1, 384]");
}

TEST(WeightsErrors, TruncatedFile) {
  EXPECT_EQ(problem("1234"), "the safetensors file 'FILE' is truncated: it has 4 bytes, not even a header");
}

// Too few words, so that words would be split in pieces unseen; too many, so that an id has no vector.
TEST(WeightsErrors, AnotherVocabulary) {
  Weights weights;
  weights.words = stax::zeros({5, kHidden});
  EXPECT_NO_THROW(check_vocabulary("v.txt", 5, "m", weights));
  for (const size_t words : {4, 6}) {
    try {
      check_vocabulary("v.txt", words, "m", weights);
      FAIL();
    } catch (const stax::UserError& e) {
      EXPECT_EQ(e.problem(),
                "the vocabulary v.txt has " + std::to_string(words) + " words, but the model m has vectors for 5");
    }
  }
}

}  // namespace minilm
#endif
