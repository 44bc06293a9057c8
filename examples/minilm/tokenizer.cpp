#include "tokenizer.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <algorithm>

#include "basic_tokenizer.h"
#include "utf8.h"

namespace minilm {
namespace {

// Pieces that continue a word carry this prefix in the vocabulary.
constexpr std::string_view kContinuation = "##";

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary, size_t max_tokens)
    : vocabulary_(std::move(vocabulary)), max_tokens_(max_tokens) {
  if (max_tokens < 2)
    throw stax::UserError(fmt::format("a limit of {} tokens leaves no room for [CLS] and [SEP]", max_tokens));
}

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> ids{vocabulary_.start()};
  for (const std::string& word : split_words(text)) {
    if (ids.size() >= max_tokens_ - 1) break;
    append_pieces(word, &ids);
  }
  ids.resize(std::min(ids.size(), max_tokens_ - 1));
  ids.push_back(vocabulary_.end());
  return ids;
}

void Tokenizer::append_pieces(std::string_view word, std::vector<int32_t>* ids) const {
  const size_t first = ids->size();
  auto give_up = [&] {
    ids->resize(first);
    ids->push_back(vocabulary_.unknown());
  };
  if (count_code_points(word) > kMaxWordLength) return give_up();
  std::string piece;
  for (size_t start = 0; start < word.size();) {
    piece.assign(start > 0 ? kContinuation : std::string_view());
    const size_t prefix = piece.size();
    piece.append(word.substr(start, vocabulary_.longest()));
    // Cutting inside a code point is harmless: the vocabulary is valid UTF-8, so no such piece is in it.
    std::optional<int32_t> id;
    while (piece.size() > prefix && !(id = vocabulary_.find(piece))) piece.pop_back();
    if (!id) return give_up();
    ids->push_back(*id);
    start += piece.size() - prefix;
  }
}

}  // namespace minilm
