#include "helpers.h"

namespace minilm {

TEST(Accents, PrecomposedLettersLoseThem) {
  EXPECT_EQ(split_words("MÜNCHEN Café naïve Ångström ñ"), (Words{"munchen", "cafe", "naive", "angstrom", "n"}));
}

TEST(Accents, CombiningMarksVanish) {
  EXPECT_EQ(split_words("e\u0301a\u0300\u0323"), (Words{"ea"}));
  EXPECT_EQ(split_words("a \u0301 b"), (Words{"a", "b"}));
}

TEST(Accents, LettersThatDoNotDecomposeStay) { EXPECT_EQ(split_words("Straße ØRE"), (Words{"straße", "øre"})); }

TEST(Accents, SpacingMarksAreKept) { EXPECT_EQ(split_words("\u0915\u093E"), (Words{"\u0915\u093E"})); }

TEST(Accents, HangulSyllablesBecomeLetters) { EXPECT_EQ(split_words("한"), (Words{"\u1112\u1161\u11AB"})); }

}  // namespace minilm
