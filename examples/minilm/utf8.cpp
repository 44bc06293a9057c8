#include "utf8.h"

#include <unicode/utf8.h>

#include <algorithm>

namespace minilm {

int32_t next_code_point(std::string_view text, size_t* offset) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  UChar32 code_point = 0;
  U8_NEXT(bytes, *offset, text.size(), code_point);
  return code_point;
}

std::optional<size_t> first_bad_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    if (next_code_point(text, &at) < 0) return start;
  }
  return std::nullopt;
}

void append_utf8(char32_t code_point, std::string* out) {
  uint8_t bytes[U8_MAX_LENGTH];
  int32_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, static_cast<UChar32>(code_point));
  out->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace minilm
