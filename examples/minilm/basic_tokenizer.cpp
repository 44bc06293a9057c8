#include "basic_tokenizer.h"

#include <fmt/format.h>
#include <stax/base/error.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include "characters.h"
#include "utf8.h"

namespace minilm {
namespace {

// Decodes, drops what is no text, turns each white-space character into ' ', and puts spaces around CJK ideographs.
icu::UnicodeString clean(std::string_view text) {
  icu::UnicodeString result;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    const int32_t c = next_code_point(text, &at);
    if (c < 0)
      throw stax::UserError(fmt::format("the sentence is not valid UTF-8: byte 0x{:02X} at byte offset {}",
                                        static_cast<unsigned char>(text[start]), start),
                            {}, "Convert the text to UTF-8 first.");
    if (is_dropped(c)) continue;
    if (is_space(c)) {
      result.append(u' ');
    } else if (is_cjk(c)) {
      result.append(u' ').append(c).append(u' ');
    } else {
      result.append(c);
    }
  }
  return result;
}

icu::UnicodeString decompose(const icu::UnicodeString& text) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* nfd = icu::Normalizer2::getNFDInstance(status);
  icu::UnicodeString result = nfd ? nfd->normalize(text, status) : icu::UnicodeString();
  if (U_FAILURE(status)) throw stax::InternalError(fmt::format("ICU cannot decompose text: {}", u_errorName(status)));
  return result;
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  const icu::UnicodeString decomposed = decompose(clean(text));
  std::vector<std::string> words;
  std::string word;
  auto finish = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (int32_t at = 0; at < decomposed.length(); at = decomposed.moveIndex32(at, 1)) {
    const UChar32 c = decomposed.char32At(at);
    if (is_accent(c)) continue;
    if (is_space(c)) {
      finish();
      continue;
    }
    // After decomposition every lower-case mapping is one code point.
    const UChar32 lower = u_tolower(c);
    if (is_punctuation(lower)) finish();
    append_utf8(lower, &word);
    if (is_punctuation(lower)) finish();
  }
  finish();
  return words;
}

}  // namespace minilm
