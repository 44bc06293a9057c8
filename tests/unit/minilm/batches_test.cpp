#include "batches.h"

#include <numeric>
#include <random>

#include "helpers.h"

namespace minilm {
namespace {

double cost_of(const std::vector<Batch>& batches) {
  double cost = 0;
  for (const Batch& batch : batches) cost += batch_cost(batch.sentences.size(), batch.length);
  return cost;
}

// Least cost over every way to cut the sorted lengths, tried one by one.
double least_cost(const std::vector<size_t>& sorted) {
  double least = 1e300;
  for (unsigned cuts = 0; cuts < 1u << (sorted.size() - 1); ++cuts) {
    double cost = 0;
    size_t begin = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (i + 1 < sorted.size() && !(cuts >> i & 1)) continue;
      cost += batch_cost(i + 1 - begin, sorted[i]);
      begin = i + 1;
    }
    least = std::min(least, cost);
  }
  return least;
}

}  // namespace

TEST(Batches, EverySentenceIsInOneThatHoldsIt) {
  std::mt19937 random(5);
  std::vector<size_t> lengths(500);
  for (size_t& length : lengths) length = 2 + random() % 255;
  std::vector<int> seen(lengths.size(), 0);
  for (const Batch& batch : make_batches(lengths)) {
    size_t longest = 0;
    for (const size_t sentence : batch.sentences) {
      ++seen[sentence];
      longest = std::max(longest, lengths[sentence]);
    }
    EXPECT_EQ(batch.length, longest);
    EXPECT_LE(batch.length * batch.sentences.size(), kMaxBatchTokens);
  }
  EXPECT_EQ(seen, std::vector<int>(lengths.size(), 1));
}

TEST(Batches, CostTheLeastPossible) {
  std::mt19937 random(6);
  for (int round = 0; round < 50; ++round) {
    std::vector<size_t> lengths(1 + random() % 12);
    for (size_t& length : lengths) length = 2 + random() % 100;
    const double cost = cost_of(make_batches(lengths));
    std::sort(lengths.begin(), lengths.end());
    EXPECT_DOUBLE_EQ(cost, least_cost(lengths));
  }
}

TEST(Batches, EqualLengthsStayTogetherInOrder) {
  const auto batches = make_batches(std::vector<size_t>(8, 128));
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].sentences, (std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Batches, OneLongSentenceDoesNotPadTheShortOnes) {
  const auto batches = make_batches(std::vector<size_t>{10, 256, 11, 12});
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].sentences, (std::vector<size_t>{0, 2, 3}));
  EXPECT_EQ(batches[1].sentences, std::vector<size_t>{1});
}

TEST(Batches, PaddingOfTypicalSentencesIsSmall) {
  const std::vector<size_t> lengths = {3,  3,  4,  4,  6,  8,  9,  11, 11, 11, 11, 12, 13, 14, 14, 15,
                                       15, 15, 16, 18, 20, 20, 21, 22, 23, 24, 25, 27, 28, 33, 34, 256};
  const double tokens = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  double padded = 0;
  const auto batches = make_batches(lengths);
  for (const Batch& batch : batches) padded += static_cast<double>(batch.length * batch.sentences.size());
  EXPECT_LE(padded, 1.10 * tokens);
  EXPECT_LE(batches.size(), 8u);
}

TEST(Batches, NoSentences) { EXPECT_TRUE(make_batches({}).empty()); }

TEST(Batches, PaddingIsMasked) {
  const std::vector<std::vector<int32_t>> ids = {{2, 7, 8, 3}, {2, 3}, {2, 9, 3}};
  const PaddedBatch padded = pad_batch({{1, 2}, 3}, ids, 0);
  EXPECT_EQ(padded.sentences, 2);
  EXPECT_EQ(padded.length, 3);
  EXPECT_EQ(padded.ids, (Ids{2, 3, 0, 2, 9, 3}));
  EXPECT_EQ(padded.mask, (std::vector<float>{1, 1, 0, 1, 1, 1}));
}

}  // namespace minilm
