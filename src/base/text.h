// Text output: a writer that keeps indentation, and the spellings of floats and strings that the Scanner reads back.
#pragma once
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace stax::base {

// "1.50 GiB", "3.0 MiB", "512 bytes".
std::string bytes_text(std::uint64_t bytes);

// Builds text line by line. Indentation applies to the start of every line that is written.
class TextWriter {
 public:
  explicit TextWriter(int indent_width = 2) : indent_width_(indent_width) {}

  // Appends text; embedded newlines start new indented lines. Blank lines carry no indentation.
  TextWriter& write(std::string_view text);
  TextWriter& operator<<(std::string_view text) { return write(text); }
  template <typename... Args>
  TextWriter& format(fmt::format_string<Args...> pattern, Args&&... args) {
    return write(fmt::format(pattern, std::forward<Args>(args)...));
  }
  // The same, followed by a newline.
  TextWriter& line(std::string_view text = {}) { return write(text).write("\n"); }
  template <typename... Args>
  TextWriter& format_line(fmt::format_string<Args...> pattern, Args&&... args) {
    return line(fmt::format(pattern, std::forward<Args>(args)...));
  }
  // Pads the current line with spaces up to `column` (counted from the left margin, indentation included).
  TextWriter& pad_to(std::size_t column);

  void indent() { ++depth_; }
  void dedent() { --depth_; }

  // Writes `open` as a line and indents; on destruction dedents and writes `close` as a line.
  class Block {
   public:
    Block(TextWriter& writer, std::string_view open, std::string close);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

   private:
    TextWriter& writer_;
    std::string close_;
  };
  [[nodiscard]] Block block(std::string_view open, std::string close = "}") { return {*this, open, std::move(close)}; }

  const std::string& str() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  int indent_width_;
  int depth_ = 0;
  std::size_t line_start_ = 0;  // offset in text_ of the current line
};

// Shortest decimal text that reads back to the same value and always looks like a float: "2.0", "1e-05", "inf", "-inf",
// "nan".
std::string float_text(double value);
std::string float_text(float value);

// The string in double quotes, with \" \\ \n \t \r and \xNN escapes.
std::string quote(std::string_view text);

// "a, b, c"
template <typename Range>
std::string joined(const Range& items, std::string_view separator = ", ") {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += separator;
    text += item;
  }
  return text;
}

}  // namespace stax::base
