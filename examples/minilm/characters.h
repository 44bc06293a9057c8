// The classes of characters that BERT's basic tokenizer tells apart.
#pragma once

namespace minilm {

// Dropped from the text: NUL, U+FFFD, and the control, format and private-use categories (Cc, Cf, Co), except tab,
// line feed and carriage return. Unassigned code points are kept, as the model's own tokenizer does.
bool is_dropped(char32_t c);

// Tab, line feed, carriage return and Unicode's White_Space property.
bool is_space(char32_t c);

// Every ASCII character that is neither letter, digit, space nor control ('$' and '^' too), and Unicode's P*
// categories.
bool is_punctuation(char32_t c);

// CJK ideographs, each a word of its own. Kana and Hangul are not among them.
bool is_cjk(char32_t c);

// Category Mn: combining marks without width, such as accents after decomposition.
bool is_accent(char32_t c);

}  // namespace minilm
