#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stax::base {

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  if (bytes >= 1024 * kMiB) return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / double(1024 * kMiB));
  if (bytes >= kMiB) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / double(kMiB));
  return fmt::format("{} bytes", bytes);
}

TextWriter& TextWriter::write(std::string_view text) {
  while (!text.empty()) {
    if (text.front() == '\n') {
      text_ += '\n';
      line_start_ = text_.size();
      text.remove_prefix(1);
      continue;
    }
    if (text_.size() == line_start_) text_.append(static_cast<std::size_t>(depth_ * indent_width_), ' ');
    const std::size_t end = std::min(text.find('\n'), text.size());
    text_ += text.substr(0, end);
    text.remove_prefix(end);
  }
  return *this;
}

TextWriter& TextWriter::pad_to(std::size_t column) {
  const std::size_t width = text_.size() - line_start_;
  if (width < column) text_.append(column - width, ' ');
  return *this;
}

TextWriter::Block::Block(TextWriter& writer, std::string_view open, std::string close)
    : writer_(writer), close_(std::move(close)) {
  writer_.line(open);
  writer_.indent();
}

TextWriter::Block::~Block() {
  writer_.dedent();
  writer_.line(close_);
}

namespace {
template <typename Float>
std::string float_text_of(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}
}  // namespace

std::string float_text(double value) { return float_text_of(value); }
std::string float_text(float value) { return float_text_of(value); }

std::string quote(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        result += "\\\"";
        break;
      case '\\':
        result += "\\\\";
        break;
      case '\n':
        result += "\\n";
        break;
      case '\t':
        result += "\\t";
        break;
      case '\r':
        result += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          result += c;
        }
    }
  }
  return result + '"';
}

}  // namespace stax::base
