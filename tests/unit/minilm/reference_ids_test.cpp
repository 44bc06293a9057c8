// The reference sentences with their ids, where the data lies beside the source.
#include <nlohmann/json.hpp>

#include "helpers.h"

namespace minilm {

TEST(ReferenceIds, AreEqual) {
  const auto data = std::filesystem::path(STAX_SOURCE_DIR).parent_path() / "shared/data/minilm/sentences.json";
  const auto vocabulary = model_folder() / "vocab.txt";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << data << " is not there";
  if (!std::filesystem::exists(vocabulary)) GTEST_SKIP() << vocabulary << " is not there: make deps fetches it";
  const Tokenizer tokenizer(Vocabulary::load(vocabulary.string()));
  std::ifstream in(data);
  const auto sentences = nlohmann::json::parse(in);
  ASSERT_FALSE(sentences.empty());
  for (const auto& sentence : sentences)
    EXPECT_EQ(tokenizer.encode(sentence["text"].get<std::string>()), sentence["ids"].get<Ids>()) << sentence["text"];
}

}  // namespace minilm
