// Which sentences mean the same.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace minilm {

struct Pair {
  size_t first = 0, second = 0;  // sentence indices, first < second
  float similarity = 0;          // cosine of the angle between the embeddings
};

// The `count` pairs of greatest similarity, most similar first, of unit vectors of `width` numbers that lie one after
// another.
std::vector<Pair> closest_pairs(std::span<const float> vectors, size_t width, size_t count);

// One pair a line: the similarity and both sentences, each cut to one short line.
std::string describe_pairs(std::span<const Pair> pairs, std::span<const std::string> sentences);

}  // namespace minilm
