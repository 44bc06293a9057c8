// Vocabularies and files of the tokenizer's tests.
#pragma once
#include <gtest/gtest.h>
#include <stax/base/error.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "basic_tokenizer.h"
#include "tokenizer.h"

namespace minilm {

// Line numbers are ids: [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, then the given tokens from 4 on.
inline Vocabulary small_vocabulary(const std::vector<std::string>& tokens) {
  std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";
  for (const std::string& token : tokens) text += token + "\n";
  return Vocabulary::parse(text, "small");
}

using Words = std::vector<std::string>;
using Ids = std::vector<int32_t>;

// The model's files; tests that need them are skipped where `make deps` has not fetched them.
inline std::filesystem::path model_folder() { return std::filesystem::path(STAX_SOURCE_DIR) / ".models/minilm"; }

// A file that is gone at the end of the test.
class TempFile {
 public:
  explicit TempFile(const std::string& content, const std::string& name = "file.txt")
      : path_(std::filesystem::temp_directory_path() /
              ("stax-minilm-" + std::to_string(getpid()) + "-" + std::to_string(count_++) + "-" + name)) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

template <class Body>
std::string user_error(Body body) {
  try {
    body();
  } catch (const stax::UserError& e) {
    return e.what();
  }
  return "no error was raised";
}

}  // namespace minilm
