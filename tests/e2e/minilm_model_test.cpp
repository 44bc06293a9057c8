// The whole of minilm: sentences through the compiled encoder.
#if __has_include(<stax/stax.h>)
#include <gtest/gtest.h>
#include <stax/tensor/io.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "embedder.h"
#include "sample_sentences.h"

namespace minilm {
namespace {

namespace fs = std::filesystem;
constexpr float kTolerance = 2e-5f;

class Model : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder = fs::path(STAX_SOURCE_DIR) / ".models/minilm";
    if (!fs::exists(folder / "model.safetensors")) GTEST_SKIP() << folder << " is not there: make deps fetches it";
    embedder_.emplace(folder.string(), stax::cpu);
  }
  std::vector<float> alone(const std::string& sentence) { return embedder_->embed(std::span(&sentence, 1)); }
  std::optional<Embedder> embedder_;
};

// Greatest difference of the vectors of one sentence: `index` in `all`, first in `one`.
float difference(const std::vector<float>& all, size_t index, const std::vector<float>& one) {
  float greatest = 0;
  for (size_t i = 0; i < kHidden; ++i) {
    const float d = std::abs(all[index * kHidden + i] - one[i]);
    if (!(d <= greatest)) greatest = d;
  }
  return greatest;
}

}  // namespace

TEST_F(Model, VectorsHaveLengthOne) {
  const auto sentences = sample_sentences();
  const auto vectors = embedder_->embed(sentences);
  ASSERT_EQ(vectors.size(), sentences.size() * kHidden);
  for (size_t s = 0; s < sentences.size(); ++s) {
    const auto first = vectors.begin() + static_cast<std::ptrdiff_t>(s) * kHidden;
    EXPECT_NEAR(std::inner_product(first, first + kHidden, first, 0.0), 1, 1e-5) << sentences[s];
  }
}

TEST_F(Model, TheBatchDoesNotMatter) {
  const auto sentences = sample_sentences();
  const auto together = embedder_->embed(sentences);
  for (size_t s = 0; s < sentences.size(); ++s)
    EXPECT_LE(difference(together, s, alone(sentences[s])), kTolerance) << sentences[s];
}

TEST_F(Model, HalfPrecisionIsClose) {
  const auto sentences = sample_sentences();
  Embedder half((fs::path(STAX_SOURCE_DIR) / ".models/minilm").string(), stax::cpu, stax::bf16);
  const auto exact = embedder_->embed(sentences), rounded = half.embed(sentences);
  float greatest = 0;
  for (size_t s = 0; s < sentences.size(); ++s) {
    const auto own = rounded.begin() + static_cast<std::ptrdiff_t>(s) * kHidden;
    greatest = std::max(greatest, difference(exact, s, std::vector<float>(own, own + kHidden)));
  }
  EXPECT_LE(greatest, 2e-2f);
  EXPECT_GT(greatest, 1e-4f);  // and not computed in f32
}

TEST_F(Model, ManyLengthsNeedFewArtifacts) {
  std::string sentence;
  for (int i = 0; i < 32; ++i) {
    alone(sentence);
    sentence += " word";
  }
  const auto sentences = sample_sentences();
  embedder_->embed(sentences);
  EXPECT_LE(embedder_->artifacts(), 3u);
}

TEST_F(Model, ReferenceEmbeddings) {
  const fs::path data = fs::path(STAX_SOURCE_DIR).parent_path() / "shared/data/minilm";
  if (!fs::exists(data / "sentences.json")) GTEST_SKIP() << data << " is not there";
  std::ifstream in(data / "sentences.json");
  std::vector<std::string> sentences;
  for (const auto& entry : nlohmann::json::parse(in)) sentences.push_back(entry["text"]);
  const stax::Array reference = stax::io::load_npy((data / "embeddings.npy").string());
  ASSERT_EQ(reference.numel(), static_cast<std::int64_t>(sentences.size()) * kHidden);
  const std::vector<float> expected(reference.data_as<float>(), reference.data_as<float>() + reference.numel());
  const auto expect_equal = [&](const std::vector<size_t>& chosen) {
    std::vector<std::string> some;
    for (const size_t s : chosen) some.push_back(sentences[s]);
    const auto vectors = embedder_->embed(some);
    for (size_t i = 0; i < chosen.size(); ++i) {
      const auto own = vectors.begin() + static_cast<std::ptrdiff_t>(i) * kHidden;
      EXPECT_LE(difference(expected, chosen[i], std::vector<float>(own, own + kHidden)), kTolerance) << some[i];
    }
  };
  std::vector<size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  expect_equal(order);
  for (const size_t s : order) expect_equal({s});
  std::mt19937 random(3);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    expect_equal({order.begin(), order.begin() + 7});
  }
}

}  // namespace minilm
#endif
