#include "characters.h"

#include <unicode/uchar.h>

namespace minilm {
namespace {

uint32_t category(char32_t c) { return U_GET_GC_MASK(static_cast<UChar32>(c)); }

struct Range {
  char32_t first, last;
};

// The blocks that BERT calls Chinese: unified ideographs, extensions A to E, and the compatibility blocks.
constexpr Range kCjk[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                          {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};

}  // namespace

bool is_dropped(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  return c == 0 || c == 0xFFFD || (category(c) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) != 0;
}

bool is_space(char32_t c) { return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0; }

bool is_punctuation(char32_t c) {
  if (c < 0x80) return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
  return (category(c) & U_GC_P_MASK) != 0;
}

bool is_cjk(char32_t c) {
  for (const Range& range : kCjk)
    if (c >= range.first && c <= range.last) return true;
  return false;
}

bool is_accent(char32_t c) { return (category(c) & U_GC_MN_MASK) != 0; }

}  // namespace minilm
