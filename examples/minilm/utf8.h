// UTF-8 in and out, by ICU's macros.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace minilm {

// Byte offset of the first sequence that is not valid UTF-8 (truncated, overlong, a surrogate, above U+10FFFF); nothing
// when `text` is valid.
std::optional<size_t> first_bad_utf8(std::string_view text);

// Decodes the code point at `*offset` and moves past it; negative when the bytes there are not valid.
int32_t next_code_point(std::string_view text, size_t* offset);

void append_utf8(char32_t code_point, std::string* out);

// Number of code points of valid UTF-8.
size_t count_code_points(std::string_view text);

}  // namespace minilm
