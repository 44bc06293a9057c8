// BERT's basic tokenizer, uncased: text to words, before they are cut into pieces of the vocabulary.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace minilm {

// The words of `text`, in order: control characters dropped, white space as separator, each CJK ideograph and each
// punctuation mark a word of its own, decomposed (NFD) without accents, lower case. Throws stax::UserError with the
// byte offset when `text` is not valid UTF-8.
std::vector<std::string> split_words(std::string_view text);

}  // namespace minilm
