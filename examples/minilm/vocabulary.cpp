#include "vocabulary.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <algorithm>

#include "text_file.h"
#include "utf8.h"

namespace minilm {

Vocabulary Vocabulary::load(const std::string& path) {
  return parse(read_text_file(path, "vocabulary", "Point --model at a folder that holds the model's vocab.txt."), path);
}

Vocabulary Vocabulary::parse(std::string_view text, const std::string& name) {
  Vocabulary result;
  if (text.empty()) throw stax::UserError(fmt::format("the vocabulary {} is empty", name));
  int32_t id = 0;
  for (size_t at = 0; at < text.size(); ++id) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view token = text.substr(at, end - at);
    if (token.ends_with('\r')) token.remove_suffix(1);
    if (const auto bad = first_bad_utf8(token))
      throw stax::UserError(
          fmt::format("the vocabulary {} is not UTF-8: line {}, byte offset {}", name, id + 1, at + *bad));
    if (token.empty()) throw stax::UserError(fmt::format("the vocabulary {} has no token on line {}", name, id + 1));
    const auto [entry, is_new] = result.ids_.emplace(token, id);
    if (!is_new)
      throw stax::UserError(fmt::format("the vocabulary {} holds the token '{}' twice: on lines {} and {}", name, token,
                                        entry->second + 1, id + 1));
    result.longest_ = std::max(result.longest_, token.size());
    at = end + 1;
  }
  result.pad_ = result.special("[PAD]", name);
  result.unknown_ = result.special("[UNK]", name);
  result.start_ = result.special("[CLS]", name);
  result.end_ = result.special("[SEP]", name);
  return result;
}

std::optional<int32_t> Vocabulary::find(std::string_view token) const {
  const auto entry = ids_.find(token);
  if (entry == ids_.end()) return std::nullopt;
  return entry->second;
}

int32_t Vocabulary::special(std::string_view token, const std::string& name) const {
  const auto id = find(token);
  if (!id)
    throw stax::UserError(fmt::format("the vocabulary {} lacks the special token {}", name, token), {},
                          "Use the vocab.txt of a BERT model.");
  return *id;
}

}  // namespace minilm
