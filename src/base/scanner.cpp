#include "base/scanner.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace stax::base {
namespace {

// ASCII only, whatever the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

template <typename Predicate>
std::size_t run_length(std::string_view text, std::size_t from, Predicate predicate) {
  std::size_t end = from;
  while (end < text.size() && predicate(text[end])) ++end;
  return end - from;
}

bool starts_hex(std::string_view text, std::size_t at) {
  return text.size() > at + 1 && text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X');
}

// Length of "e+12" at `from`, 0 when there is none.
std::size_t exponent_length(std::string_view text, std::size_t from, char lower, char upper) {
  if (from >= text.size() || (text[from] != lower && text[from] != upper)) return 0;
  std::size_t at = from + 1;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  const std::size_t digits = run_length(text, at, is_digit);
  return digits == 0 ? 0 : at + digits - from;
}

int hex_value(char c) { return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

}  // namespace

void Scanner::skip_blanks() {
  while (offset_ < text_.size()) {
    const char c = text_[offset_];
    if (is_blank(c) || c == '\n') {
      ++offset_;
    } else if (c == '#') {
      offset_ = std::min(text_.find('\n', offset_), text_.size());
    } else {
      return;
    }
  }
}

bool Scanner::at_end() {
  skip_blanks();
  return offset_ == text_.size();
}

bool Scanner::at_line_end() {
  const std::size_t at = offset_ + run_length(text_, offset_, is_blank);
  return at >= text_.size() || text_[at] == '\n' || text_[at] == '#';
}

bool Scanner::peek(std::string_view token) {
  skip_blanks();
  if (!text_.substr(offset_).starts_with(token)) return false;
  const std::size_t end = offset_ + token.size();
  return !(is_name_part(token.back()) && end < text_.size() && is_name_part(text_[end]));
}

bool Scanner::accept(std::string_view token) {
  if (!peek(token)) return false;
  offset_ += token.size();
  return true;
}

void Scanner::expect(std::string_view token) {
  if (!accept(token)) fail_expected(fmt::format("'{}'", token));
}

std::size_t Scanner::identifier_length() const {
  if (offset_ >= text_.size() || !is_name_start(text_[offset_])) return 0;
  return run_length(text_, offset_, is_name_part);
}

bool Scanner::peek_identifier() {
  skip_blanks();
  return identifier_length() > 0;
}

std::optional<std::string_view> Scanner::accept_identifier() {
  if (!peek_identifier()) return std::nullopt;
  const std::string_view name = text_.substr(offset_, identifier_length());
  offset_ += name.size();
  return name;
}

std::string_view Scanner::expect_identifier(std::string_view what) {
  if (auto name = accept_identifier()) return *name;
  fail_expected(what);
}

std::string_view Scanner::expect_dotted_name(std::string_view what) {
  std::string_view name = expect_identifier(what);
  const std::size_t start = offset_ - name.size();
  while (offset_ + 1 < text_.size() && text_[offset_] == '.' && is_name_start(text_[offset_ + 1])) {
    offset_ += 1 + run_length(text_, offset_ + 1, is_name_part);
  }
  return text_.substr(start, offset_ - start);
}

std::size_t Scanner::integer_length() const {
  std::size_t at = offset_;
  if (at < text_.size() && text_[at] == '-') ++at;
  if (starts_hex(text_, at)) {
    const std::size_t digits = run_length(text_, at + 2, is_hex_digit);
    if (digits == 0) return 0;
    at += 2 + digits;
    if (at < text_.size() && (text_[at] == '.' || is_name_part(text_[at]))) return 0;
    return at - offset_;
  }
  const std::size_t digits = run_length(text_, at, is_digit);
  if (digits == 0) return 0;
  at += digits;
  const bool fraction = at + 1 < text_.size() && text_[at] == '.' && text_[at + 1] != '.';
  if (fraction || (at < text_.size() && is_name_part(text_[at]))) return 0;
  return at - offset_;
}

bool Scanner::peek_integer() {
  skip_blanks();
  return integer_length() > 0;
}

std::optional<std::int64_t> Scanner::accept_integer() {
  skip_blanks();
  const std::size_t length = integer_length();
  if (length == 0) return std::nullopt;
  std::string_view digits = text_.substr(offset_, length);
  const bool negative = digits.front() == '-';
  if (negative) digits.remove_prefix(1);
  const bool hex = starts_hex(digits, 0);
  if (hex) digits.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
  const std::uint64_t limit = static_cast<std::uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  if (error != std::errc() || magnitude > limit) {
    fail(fmt::format("the integer {} does not fit 64 bits", text_.substr(offset_, length)));
  }
  offset_ += length;
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

std::int64_t Scanner::expect_integer(std::string_view what) {
  if (auto value = accept_integer()) return *value;
  fail_expected(what);
}

std::size_t Scanner::float_length() const {
  std::size_t at = offset_;
  if (at < text_.size() && text_[at] == '-') ++at;
  for (const std::string_view word : {"inf", "nan"}) {
    if (text_.substr(at).starts_with(word)) {
      const std::size_t end = at + word.size();
      return end < text_.size() && is_name_part(text_[end]) ? 0 : end - offset_;
    }
  }
  const bool hex = starts_hex(text_, at);
  if (hex) at += 2;
  const auto digit = hex ? is_hex_digit : is_digit;
  std::size_t digits = run_length(text_, at, digit);
  at += digits;
  if (at < text_.size() && text_[at] == '.' && !(at + 1 < text_.size() && text_[at + 1] == '.')) {
    const std::size_t fraction = run_length(text_, at + 1, digit);
    digits += fraction;
    at += 1 + fraction;
  }
  if (digits == 0) return 0;
  at += hex ? exponent_length(text_, at, 'p', 'P') : exponent_length(text_, at, 'e', 'E');
  return at < text_.size() && is_name_part(text_[at]) ? 0 : at - offset_;
}

bool Scanner::peek_float() {
  skip_blanks();
  return float_length() > 0;
}

std::optional<double> Scanner::accept_float() {
  skip_blanks();
  const std::size_t length = float_length();
  if (length == 0) return std::nullopt;
  std::string_view number = text_.substr(offset_, length);
  const bool negative = number.front() == '-';
  if (negative) number.remove_prefix(1);
  double value = 0;
  if (number == "nan") {
    value = std::nan("");
  } else if (number == "inf") {
    value = HUGE_VAL;
  } else {
    const bool hex = starts_hex(number, 0);
    if (hex) number.remove_prefix(2);
    const auto format = hex ? std::chars_format::hex : std::chars_format::general;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value, format);
    // from_chars leaves the value alone when it is out of range; strtod gives the rounded infinity or zero.
    if (error == std::errc::result_out_of_range)
      value = std::strtod(((hex ? "0x" : "") + std::string(number)).c_str(), nullptr);
  }
  offset_ += length;
  return negative ? -value : value;
}

double Scanner::expect_float(std::string_view what) {
  if (auto value = accept_float()) return *value;
  fail_expected(what);
}

std::optional<std::string> Scanner::accept_string() {
  skip_blanks();
  if (offset_ >= text_.size() || text_[offset_] != '"') return std::nullopt;
  std::string value;
  for (std::size_t at = offset_ + 1; at < text_.size() && text_[at] != '\n'; ++at) {
    const char c = text_[at];
    if (c == '"') {
      offset_ = at + 1;
      return value;
    }
    if (c != '\\') {
      value += c;
      continue;
    }
    if (++at >= text_.size()) break;
    switch (text_[at]) {
      case 'n':
        value += '\n';
        break;
      case 't':
        value += '\t';
        break;
      case 'r':
        value += '\r';
        break;
      case '"':
      case '\\':
        value += text_[at];
        break;
      case 'x':
        if (at + 2 >= text_.size() || !is_hex_digit(text_[at + 1]) || !is_hex_digit(text_[at + 2])) {
          fail_at(at - 1, "the escape \\x needs two hexadecimal digits");
        }
        value += static_cast<char>(hex_value(text_[at + 1]) * 16 + hex_value(text_[at + 2]));
        at += 2;
        break;
      default:
        fail_at(at - 1, fmt::format("unknown escape \\{} in a string", text_[at]));
    }
  }
  fail("the string has no closing '\"'");
}

std::string Scanner::expect_string(std::string_view what) {
  if (auto value = accept_string()) return *std::move(value);
  fail_expected(what);
}

std::string_view Scanner::rest() {
  skip_blanks();
  return text_.substr(offset_);
}

void Scanner::advance(std::size_t bytes) { offset_ = std::min(offset_ + bytes, text_.size()); }

namespace {
std::pair<int, int> position(std::string_view text, std::size_t offset) {
  int line = 1;
  std::size_t line_start = 0;
  for (std::size_t at = 0; at < offset; ++at) {
    if (text[at] == '\n') {
      ++line;
      line_start = at + 1;
    }
  }
  return {line, static_cast<int>(offset - line_start) + 1};
}
}  // namespace

int Scanner::line() {
  skip_blanks();
  return position(text_, offset_).first;
}

int Scanner::column() {
  skip_blanks();
  return position(text_, offset_).second;
}

std::string Scanner::found() const {
  if (offset_ >= text_.size()) return "the end of the text";
  std::size_t length = std::max({identifier_length(), float_length(), integer_length(), std::size_t{1}});
  // A whole UTF-8 character, never a part.
  while (offset_ + length < text_.size() && (text_[offset_ + length] & 0xC0) == 0x80) ++length;
  return fmt::format("'{}'", text_.substr(offset_, std::min<std::size_t>(length, 60)));
}

void Scanner::fail_expected(std::string_view expected) {
  skip_blanks();
  fail_at(offset_, fmt::format("expected {}, found {}", expected, found()));
}

void Scanner::fail(std::string_view problem) {
  skip_blanks();
  fail_at(offset_, problem);
}

void Scanner::fail_at(std::size_t offset, std::string_view problem) const {
  const auto [line, column] = position(text_, std::min(offset, text_.size()));
  throw UserError(fmt::format("{}{}line {}, column {}: {}", file_, file_.empty() ? "" : ": ", line, column, problem));
}

}  // namespace stax::base
