// Groups sentences of like length, so that little of a batch is padding.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace minilm {

// Sentences that go through the encoder together, by their index; all are padded to `length` tokens.
struct Batch {
  std::vector<size_t> sentences;
  size_t length = 0;
};

// A batch has at most so many tokens, padding included (but one sentence at least): it bounds the memory.
inline constexpr size_t kMaxBatchTokens = 2048;

// Estimated cost of a batch, in tokens' worth of the linear layers: a constant for launching every kernel once more and
// for reading the weights again, and attention, which grows with the length.
double batch_cost(size_t sentences, size_t length);

// Splits sentences of the given lengths into the batches of least total cost, shortest first. Every sentence is in one
// batch; those of equal length keep their order.
std::vector<Batch> make_batches(std::span<const size_t> lengths);

// A batch as the encoder reads it: row-major [sentences, length].
struct PaddedBatch {
  int64_t sentences = 0, length = 0;
  std::vector<int32_t> ids;  // `pad` beyond the end of a sentence
  std::vector<float> mask;   // 1 for a token, 0 for padding
};
PaddedBatch pad_batch(const Batch& batch, std::span<const std::vector<int32_t>> ids, int32_t pad);

}  // namespace minilm
