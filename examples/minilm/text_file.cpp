#include "text_file.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "utf8.h"

namespace minilm {

std::string read_text_file(const std::string& path, std::string_view what, const std::string& remedy) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    throw stax::UserError(fmt::format("the {} {} does not exist", what, path), {}, remedy);
  if (std::filesystem::is_directory(status))
    throw stax::UserError(fmt::format("the {} {} is a directory", what, path), {}, remedy);
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  // An empty file inserts nothing, which sets failbit of `text` alone.
  if (!in || (in.peek() != std::ifstream::traits_type::eof() && !(text << in.rdbuf())) || in.bad())
    throw stax::UserError(fmt::format("the {} {} cannot be read: {}", what, path, std::strerror(errno)), {}, remedy);
  return std::move(text).str();
}

std::vector<std::string> read_sentences(const std::string& path) {
  const std::string text = read_text_file(path, "sentence file", "Give --in a UTF-8 file with one sentence a line.");
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::vector<std::string> sentences;
  size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  for (int line = 1; at < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view sentence = std::string_view(text).substr(at, end - at);
    if (const auto bad = first_bad_utf8(sentence))
      throw stax::UserError(
          fmt::format("{}:{}: the sentence is not valid UTF-8 at byte offset {} of the line, {} of the "
                      "file",
                      path, line, *bad, at + *bad),
          {}, "Convert the file to UTF-8 first.");
    if (sentence.ends_with('\r')) sentence.remove_suffix(1);
    if (sentence.find_first_not_of(" \t\r\v\f") != std::string_view::npos) sentences.emplace_back(sentence);
    at = end + 1;
  }
  if (sentences.empty()) throw stax::UserError(fmt::format("the sentence file {} holds no sentence", path));
  return sentences;
}

}  // namespace minilm
