#include "pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "utf8.h"

namespace minilm {
namespace {

bool closer(const Pair& a, const Pair& b) {
  if (a.similarity != b.similarity) return a.similarity > b.similarity;
  return std::pair(a.first, a.second) < std::pair(b.first, b.second);
}

// Sixteen partial sums, which the compiler keeps in vectors.
float dot(const float* a, const float* b, size_t width) {
  constexpr size_t kLanes = 16;
  std::array<float, kLanes> sums{};
  size_t i = 0;
  for (; i + kLanes <= width; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (; i < width; ++i) sums[0] += a[i] * b[i];
  float sum = 0;
  for (const float part : sums) sum += part;
  return sum;
}

// At most 48 code points, with an ellipsis for the rest.
std::string shortened(std::string_view sentence) {
  constexpr int kLongest = 48;
  size_t end = 0;
  for (int i = 0; i < kLongest && end < sentence.size(); ++i) next_code_point(sentence, &end);
  std::string result(sentence.substr(0, end));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  if (end < sentence.size()) result += "…";
  return result;
}

}  // namespace

std::vector<Pair> closest_pairs(std::span<const float> vectors, size_t width, size_t count) {
  const size_t sentences = width == 0 ? 0 : vectors.size() / width;
  // A heap whose front is the least similar pair that is kept.
  std::vector<Pair> kept;
  if (count == 0) return kept;
  for (size_t second = 1; second < sentences; ++second) {
    for (size_t first = 0; first < second; ++first) {
      const Pair pair{first, second, dot(&vectors[first * width], &vectors[second * width], width)};
      if (kept.size() == count) {
        if (!closer(pair, kept.front())) continue;
        std::pop_heap(kept.begin(), kept.end(), closer);
        kept.pop_back();
      }
      kept.push_back(pair);
      std::push_heap(kept.begin(), kept.end(), closer);
    }
  }
  std::sort_heap(kept.begin(), kept.end(), closer);
  return kept;
}

std::string describe_pairs(std::span<const Pair> pairs, std::span<const std::string> sentences) {
  std::string text;
  for (const Pair& pair : pairs)
    text += fmt::format("  {:.3f}  {}\n         {}\n", pair.similarity, shortened(sentences[pair.first]),
                        shortened(sentences[pair.second]));
  return text;
}

}  // namespace minilm
