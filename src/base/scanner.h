// The scanner shared by all text parsers: tokens with line and column, `#` comments, uniform errors.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stax::base {

// Reads tokens from a text. Every peek, accept and expect first skips spaces, newlines and comments (`#` to the line's
// end). An expect that fails throws UserError "FILE: line L, column C: expected X, found Y". The text must outlive the
// scanner.
class Scanner {
 public:
  explicit Scanner(std::string_view text, std::string file = {}) : text_(text), file_(std::move(file)) {}

  // Nothing but spaces and comments remains (in the text, on this line).
  bool at_end();
  bool at_line_end();

  // Fixed tokens. A token that ends in a letter, digit or underscore matches whole words only; punctuation matches as
  // a prefix, so a caller tries "<=" before "<".
  bool peek(std::string_view token);
  bool accept(std::string_view token);
  void expect(std::string_view token);

  // Identifiers: [A-Za-z_][A-Za-z0-9_]*. Dotted names: identifiers joined by '.' without spaces ("add.f32").
  bool peek_identifier();
  std::optional<std::string_view> accept_identifier();
  std::string_view expect_identifier(std::string_view what = "a name");
  std::string_view expect_dotted_name(std::string_view what = "a name");

  // Integers: decimal with an optional '-', or 0x….  "2.5" and "1e3" are no integers. Overflow is an error.
  bool peek_integer();
  std::optional<std::int64_t> accept_integer();
  std::int64_t expect_integer(std::string_view what = "an integer");

  // Floats: decimal or hexadecimal ("0x1.8p3"), integers too, "inf", "nan", each with an optional '-'.
  bool peek_float();
  std::optional<double> accept_float();
  double expect_float(std::string_view what = "a number");

  // Strings in double quotes with the escapes of quote().
  std::optional<std::string> accept_string();
  std::string expect_string(std::string_view what = "a string");

  // Hand-over to a sub-parser: rest() starts at the next token; advance(n) consumes n bytes of it.
  std::string_view rest();
  void advance(std::size_t bytes);

  // Going back: reset(offset()) restores the position.
  std::size_t offset() const { return offset_; }
  void reset(std::size_t offset) { offset_ = offset; }

  // 1-based position of the next token.
  int line();
  int column();
  const std::string& file() const { return file_; }

  // Throws "… expected <expected>, found <next token>", or "… <problem>", at the next token.
  [[noreturn]] void fail_expected(std::string_view expected);
  [[noreturn]] void fail(std::string_view problem);
  // The same at an earlier offset.
  [[noreturn]] void fail_at(std::size_t offset, std::string_view problem) const;

 private:
  void skip_blanks();
  std::size_t identifier_length() const;
  std::size_t integer_length() const;
  std::size_t float_length() const;
  std::string found() const;

  std::string_view text_;
  std::string file_;
  std::size_t offset_ = 0;
};

}  // namespace stax::base
