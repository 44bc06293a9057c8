#include "helpers.h"

namespace minilm {

TEST(Cjk, IdeographsAreWords) { EXPECT_EQ(split_words("a東京b"), (Words{"a", "東", "京", "b"})); }

TEST(Cjk, ExtensionsOutsideTheBasicPlane) {
  EXPECT_EQ(split_words("\U00020000\U0002A700x"), (Words{"\U00020000", "\U0002A700", "x"}));
}

TEST(Cjk, CompatibilityIdeographsAreSeparatedThenDecomposed) {
  EXPECT_EQ(split_words("\uF900\U0002F800"), (Words{"\u8C48", "\u4E3D"}));
}

TEST(Cjk, KanaAndHangulStayTogether) {
  EXPECT_EQ(split_words("ひらカナ"), (Words{"ひらカナ"}));
  EXPECT_EQ(split_words("가나"), (Words{"\u1100\u1161\u1102\u1161"}));
}

}  // namespace minilm
