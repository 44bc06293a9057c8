#include "pairs.h"

#include "helpers.h"

namespace minilm {

TEST(Pairs, MostSimilarFirst) {
  const std::vector<float> vectors = {1, 0, 0, 1, 0.6f, 0.8f, -1, 0};
  const auto pairs = closest_pairs(vectors, 2, 3);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].first, 1u);
  EXPECT_EQ(pairs[0].second, 2u);
  EXPECT_FLOAT_EQ(pairs[0].similarity, 0.8f);
  EXPECT_FLOAT_EQ(pairs[1].similarity, 0.6f);
  EXPECT_FLOAT_EQ(pairs[2].similarity, 0);
}

TEST(Pairs, EqualOnesInTheOrderOfTheSentences) {
  const auto pairs = closest_pairs(std::vector<float>(4, 1.0f), 1, 4);
  ASSERT_EQ(pairs.size(), 4u);
  EXPECT_EQ(pairs[0].second, 1u);
  EXPECT_EQ(pairs[1].second, 2u);
  EXPECT_EQ(pairs[2].second, 3u);
  EXPECT_EQ(pairs[3].first, 1u);
}

TEST(Pairs, WidthsAroundTheVectorWidth) {
  for (const size_t width : {1u, 15u, 16u, 17u, 384u}) {
    std::vector<float> vectors(2 * width, 0.5f);
    EXPECT_FLOAT_EQ(closest_pairs(vectors, width, 1)[0].similarity, 0.25f * static_cast<float>(width));
  }
}

TEST(Pairs, FewerThanTwoSentencesHaveNone) {
  EXPECT_TRUE(closest_pairs({}, 384, 5).empty());
  EXPECT_TRUE(closest_pairs(std::vector<float>(384), 384, 5).empty());
}

TEST(Pairs, LongSentencesAreCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "ü";
  const std::vector<std::string> sentences = {text, "a\tb"};
  const std::vector<Pair> pairs = {{0, 1, 0.5f}};
  EXPECT_EQ(describe_pairs(pairs, sentences), "  0.500  " + text.substr(0, 96) + "…\n         a b\n");
}

}  // namespace minilm
