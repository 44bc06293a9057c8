#include "batches.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace minilm {

double batch_cost(size_t sentences, size_t length) {
  constexpr double kLaunch = 12, kLengthOfDoubledCost = 1000;
  const auto tokens = static_cast<double>(sentences * length);
  return kLaunch + tokens * (1 + static_cast<double>(length) / kLengthOfDoubledCost);
}

std::vector<Batch> make_batches(std::span<const size_t> lengths) {
  const size_t count = lengths.size();
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lengths[a] < lengths[b]; });

  // best[end]: least cost of the `end` shortest sentences; start[end]: where their last batch begins.
  std::vector<double> best(count + 1, std::numeric_limits<double>::infinity());
  std::vector<size_t> start(count + 1, 0);
  best[0] = 0;
  for (size_t end = 1; end <= count; ++end) {
    const size_t length = lengths[order[end - 1]];
    for (size_t size = 1; size <= end && (size == 1 || size * length <= kMaxBatchTokens); ++size) {
      const double cost = best[end - size] + batch_cost(size, length);
      if (cost >= best[end]) continue;
      best[end] = cost;
      start[end] = end - size;
    }
  }

  std::vector<Batch> batches;
  for (size_t end = count; end > 0; end = start[end]) {
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(start[end]);
    const auto last = order.begin() + static_cast<std::ptrdiff_t>(end);
    batches.push_back({std::vector<size_t>(first, last), lengths[order[end - 1]]});
  }
  std::reverse(batches.begin(), batches.end());
  return batches;
}

PaddedBatch pad_batch(const Batch& batch, std::span<const std::vector<int32_t>> ids, int32_t pad) {
  PaddedBatch padded;
  padded.sentences = static_cast<int64_t>(batch.sentences.size());
  padded.length = static_cast<int64_t>(batch.length);
  const size_t tokens = batch.sentences.size() * batch.length;
  padded.ids.reserve(tokens);
  padded.mask.reserve(tokens);
  for (const size_t sentence : batch.sentences) {
    const std::vector<int32_t>& tokens_of_one = ids[sentence];
    padded.ids.insert(padded.ids.end(), tokens_of_one.begin(), tokens_of_one.end());
    padded.ids.insert(padded.ids.end(), batch.length - tokens_of_one.size(), pad);
    padded.mask.insert(padded.mask.end(), tokens_of_one.size(), 1.0f);
    padded.mask.insert(padded.mask.end(), batch.length - tokens_of_one.size(), 0.0f);
  }
  return padded;
}

}  // namespace minilm
