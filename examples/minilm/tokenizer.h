// WordPiece: sentences to the token ids that the model reads.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vocabulary.h"

namespace minilm {

// The model was trained on sentences of at most so many tokens, [CLS] and [SEP] among them.
inline constexpr size_t kMaxTokens = 256;

// A longer word is [UNK] as a whole, in code points.
inline constexpr size_t kMaxWordLength = 100;

class Tokenizer {
 public:
  // `max_tokens` of at least 2 counts [CLS] and [SEP].
  explicit Tokenizer(Vocabulary vocabulary, size_t max_tokens = kMaxTokens);

  // [CLS], the pieces of each word, [SEP]; what goes beyond the maximum is cut off before [SEP]. The names of special
  // tokens in `text` are ordinary text. Throws stax::UserError with the byte offset when `text` is not valid UTF-8.
  std::vector<int32_t> encode(std::string_view text) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  // Appends the longest pieces that make up `word`, from left to right, or [UNK] when there is a rest.
  void append_pieces(std::string_view word, std::vector<int32_t>* ids) const;

  Vocabulary vocabulary_;
  size_t max_tokens_;
};

}  // namespace minilm
