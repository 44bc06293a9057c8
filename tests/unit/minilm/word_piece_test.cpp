#include "helpers.h"

namespace minilm {

TEST(WordPiece, TheLongestPieceWins) {
  const Tokenizer tokenizer(small_vocabulary({"un", "una", "##ff", "##a", "##able", "##affable", "unaff"}));
  EXPECT_EQ(tokenizer.encode("unaffable"), (Ids{2, 10, 8, 3}));
  EXPECT_EQ(tokenizer.encode("una"), (Ids{2, 5, 3}));
}

TEST(WordPiece, ARestWithoutPieceMakesTheWholeWordUnknown) {
  const Tokenizer tokenizer(small_vocabulary({"play", "##ing", "now"}));
  EXPECT_EQ(tokenizer.encode("playing playingx now"), (Ids{2, 4, 5, 1, 6, 3}));
}

TEST(WordPiece, ContinuationsNeedTheirPrefix) {
  const Tokenizer tokenizer(small_vocabulary({"a", "##b", "b"}));
  EXPECT_EQ(tokenizer.encode("ab b ba"), (Ids{2, 4, 5, 6, 1, 3}));
}

TEST(WordPiece, PiecesNeverCutACodePoint) {
  const Tokenizer tokenizer(small_vocabulary({"я", "##я", "х"}));
  EXPECT_EQ(tokenizer.encode("яяя х"), (Ids{2, 4, 5, 5, 6, 3}));
  EXPECT_EQ(tokenizer.encode("яц"), (Ids{2, 1, 3}));
}

TEST(WordPiece, EmptyTextIsStartAndEnd) {
  const Tokenizer tokenizer(small_vocabulary({}));
  EXPECT_EQ(tokenizer.encode(""), (Ids{2, 3}));
  EXPECT_EQ(tokenizer.encode("\u200B"), (Ids{2, 3}));
}

TEST(WordPiece, WordsOfMoreThanHundredCharactersAreUnknown) {
  const Tokenizer tokenizer(small_vocabulary({"a", "##a", "я", "##я"}));
  EXPECT_EQ(tokenizer.encode(std::string(100, 'a')).size(), 102u);
  EXPECT_EQ(tokenizer.encode(std::string(101, 'a')), (Ids{2, 1, 3}));
  std::string cyrillic;
  for (int i = 0; i < 100; ++i) cyrillic += "я";
  EXPECT_EQ(tokenizer.encode(cyrillic).size(), 102u) << "characters are counted, not bytes";
  EXPECT_EQ(tokenizer.encode(cyrillic + "я"), (Ids{2, 1, 3}));
}

}  // namespace minilm
