#include "helpers.h"
#include "utf8.h"

namespace minilm {

TEST(InvalidUtf8, TheErrorNamesByteAndOffset) {
  const Tokenizer tokenizer(small_vocabulary({"a"}));
  EXPECT_EQ(user_error([&] { tokenizer.encode("caf\xE9 au lait"); }),
            "the sentence is not valid UTF-8: byte 0xE9 at byte offset 3. Convert the text to UTF-8 first.");
}

TEST(InvalidUtf8, EveryMalformedFormIsFound) {
  EXPECT_EQ(first_bad_utf8("ok\x80"), 2u) << "continuation byte alone";
  EXPECT_EQ(first_bad_utf8("\xC0\xAF"), 0u) << "overlong";
  EXPECT_EQ(first_bad_utf8("é\xED\xA0\x80"), 2u) << "surrogate";
  EXPECT_EQ(first_bad_utf8("\xF4\x90\x80\x80"), 0u) << "above U+10FFFF";
  EXPECT_EQ(first_bad_utf8("abc\xE2\x82"), 3u) << "truncated";
  EXPECT_EQ(first_bad_utf8("a\xFF"), 1u);
}

TEST(InvalidUtf8, ValidTextHasNone) { EXPECT_EQ(first_bad_utf8("aé€\U0010FFFF\uFFFD"), std::nullopt); }

}  // namespace minilm
