#include "tensor/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tensor/npy_dtype.h"

namespace stax::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;

// The dictionary literal of the header, and nothing else of Python.
class LiteralParser {
 public:
  LiteralParser(std::string_view text, const DataFile& file) : text_(text), file_(file) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_dtype = false, has_order = false, has_shape = false;
    auto first = [&](bool* seen, std::string_view key) {
      if (std::exchange(*seen, true)) fail(fmt::format("the key '{}' twice", key));
    };
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr") {
        first(&has_dtype, key);
        if (peek() == '[' || peek() == '(') file_.fail("holds structured records", "Save one array a field.");
        header.dtype = parse_npy_dtype(string(), file_);
      } else if (key == "fortran_order") {
        first(&has_order, key);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        first(&has_shape, key);
        header.shape = shape();
      } else {
        fail(fmt::format("the unknown key {}", excerpt(key)));
      }
      if (!accept(',') && peek() != '}') fail("no ',' or '}' after a value");
    }
    skip_space();
    if (at_ != text_.size()) fail("text after the dictionary");
    if (!has_dtype) fail("no 'descr'");
    if (!has_order) fail("no 'fortran_order'");
    if (!has_shape) fail("no 'shape'");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    file_.fail(fmt::format("has a malformed header: {}, at character {} of {}", problem, at_, excerpt(text_)));
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}' expected", c));
  }

  // No escapes: no key or dtype has one.
  std::string_view string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a string expected");
    const std::size_t begin = at_ + 1, end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail("a string without end");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail("True or False expected");
  }

  std::int64_t size() {
    skip_space();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("a size that does not fit 64 bits");
    if (error != std::errc()) fail("a size expected");
    if (value < 0) fail(fmt::format("the negative size {}", value));
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  // A tuple: "()", "(3,)", "(3, 4)".
  Dims shape() {
    Dims sizes;
    expect('(');
    while (!accept(')')) {
      if (sizes.size() == kMaxRank) file_.fail(fmt::format("has more than {} dimensions, the most Stax has", kMaxRank));
      sizes.push_back(size());
      const bool comma = accept(',');
      if (!comma && (peek() != ')' || sizes.size() == 1)) fail("',' expected in the shape");
    }
    return sizes;
  }

  std::string_view text_;
  const DataFile& file_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(const DataFile& file) {
  const std::string_view text = file.text();
  if (text.substr(0, kMagic.size()) != kMagic.substr(0, text.size()) || text.empty())
    file.fail(fmt::format("does not begin with the magic of npy: it begins with {}", excerpt(text.substr(0, 6))));
  auto truncated = [&](std::size_t needed) {
    file.fail(fmt::format("is truncated: its header needs {} bytes, the file has {}", needed, text.size()));
  };
  const std::size_t version_end = kMagic.size() + 2;
  if (text.size() < version_end) truncated(version_end);
  const int major = static_cast<unsigned char>(text[6]), minor = static_cast<unsigned char>(text[7]);
  if (major < 1 || major > 3 || minor != 0)
    file.fail(fmt::format("has format version {}.{}", major, minor), "Versions 1.0, 2.0 and 3.0 are known.");
  const std::size_t length_bytes = major == 1 ? 2 : 4, header_begin = version_end + length_bytes;
  if (text.size() < header_begin) truncated(header_begin);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::size_t{static_cast<unsigned char>(text[version_end + i])} << (8 * i);
  if (length > text.size() - header_begin) truncated(header_begin + length);

  const std::string_view literal = text.substr(header_begin, length);
  const auto foreign = std::find_if(literal.begin(), literal.end(), [](char c) { return (c & 0x80) != 0; });
  if (foreign != literal.end())
    file.fail(fmt::format("has the non-ASCII byte 0x{:02X} at offset {} of its header",
                          static_cast<unsigned char>(*foreign), foreign - literal.begin()));
  NpyHeader header = LiteralParser(literal, file).parse();
  header.data_begin = header_begin + length;
  return header;
}

std::string print_npy_header(Dtype dtype, std::span<const std::int64_t> shape) {
  std::string literal = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", npy_spelling(dtype),
                                    fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const std::size_t before = kMagic.size() + 2 + 2;
  const std::size_t total = (before + literal.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  literal.resize(total - before - 1, ' ');
  literal += '\n';
  std::string result(kMagic);
  result += '\x01';
  result += '\0';
  result += static_cast<char>(literal.size() & 0xFF);
  result += static_cast<char>(literal.size() >> 8);
  return result + literal;
}

}  // namespace stax::io
