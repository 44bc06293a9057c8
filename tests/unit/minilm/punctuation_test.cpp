#include "helpers.h"

namespace minilm {

TEST(Punctuation, EachMarkIsAWord) {
  EXPECT_EQ(split_words("it's 9:15..."), (Words{"it", "'", "s", "9", ":", "15", ".", ".", "."}));
}

TEST(Punctuation, AsciiSymbolsCount) {
  EXPECT_EQ(split_words("a$b^c`d+e=f|g~h<i>j"),
            (Words{"a", "$", "b", "^", "c", "`", "d", "+", "e", "=", "f", "|", "g", "~", "h", "<", "i", ">", "j"}));
}

TEST(Punctuation, OnlyThePCategoriesBeyondAscii) {
  EXPECT_EQ(split_words("«a»—b…c。d¿e"), (Words{"«", "a", "»", "—", "b", "…", "c", "。", "d", "¿", "e"}));
  EXPECT_EQ(split_words("5€ 3×4 ±1"), (Words{"5€", "3×4", "±1"}));
}

TEST(Punctuation, GreekQuestionMarkIsASemicolonAfterDecomposition) {
  EXPECT_EQ(split_words("a\u037Eb"), (Words{"a", ";", "b"}));
}

TEST(Punctuation, SpecialTokensInTextAreText) { EXPECT_EQ(split_words("[SEP]"), (Words{"[", "sep", "]"})); }

}  // namespace minilm
