// The pieces of words that a model knows, each with its id.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace minilm {

class Vocabulary {
 public:
  // Reads vocab.txt: UTF-8, one token a line, the id is the line number from 0. Throws stax::UserError with path and
  // line when the file is missing, empty, not UTF-8, has an empty or duplicate token, or lacks one of [PAD], [UNK],
  // [CLS], [SEP].
  static Vocabulary load(const std::string& path);

  // The same for text that is already in memory; `name` stands for the path in messages.
  static Vocabulary parse(std::string_view text, const std::string& name);

  std::optional<int32_t> find(std::string_view token) const;
  size_t size() const { return ids_.size(); }
  // Length in bytes of the longest token.
  size_t longest() const { return longest_; }
  int32_t pad() const { return pad_; }
  int32_t unknown() const { return unknown_; }
  int32_t start() const { return start_; }
  int32_t end() const { return end_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  int32_t special(std::string_view token, const std::string& name) const;

  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> ids_;
  size_t longest_ = 0;
  int32_t pad_ = 0, unknown_ = 0, start_ = 0, end_ = 0;
};

}  // namespace minilm
