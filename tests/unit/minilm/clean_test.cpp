#include "helpers.h"

namespace minilm {

TEST(Clean, WhiteSpaceOfEveryKindSeparates) {
  EXPECT_EQ(split_words(" a\tb\nc\rd  e\u00A0f\u2003g\u3000h\u2028i\u2029j\u1680k\u202Fl "),
            (Words{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}));
  EXPECT_EQ(split_words(""), Words{});
  EXPECT_EQ(split_words(" \t\n\u3000"), Words{});
}

TEST(Clean, ControlAndFormatCharactersVanish) {
  EXPECT_EQ(split_words("a\u0001b\u007Fc\u0085d"), (Words{"abcd"}));
  EXPECT_EQ(split_words("a\vb\fc"), (Words{"abc"}));
  EXPECT_EQ(split_words("a\u200Bb\u200Dc\uFEFFd\u00ADe"), (Words{"abcde"}));
  EXPECT_EQ(split_words("a\uE000b\U0010FFFDc"), (Words{"abc"}));
}

TEST(Clean, NulAndReplacementCharacterVanish) {
  EXPECT_EQ(split_words(std::string("a\0b", 3)), (Words{"ab"}));
  EXPECT_EQ(split_words("a\uFFFDb"), (Words{"ab"}));
}

TEST(Clean, UnassignedCodePointsStay) { EXPECT_EQ(split_words("a\u0378b"), (Words{"a\u0378b"})); }

}  // namespace minilm
