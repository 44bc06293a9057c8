#include "helpers.h"

namespace minilm {

TEST(Truncation, At256TokensWithBothEnds) {
  const Tokenizer tokenizer(small_vocabulary({"a", "b"}));
  std::string text;
  for (int i = 0; i < 254; ++i) text += "a ";
  EXPECT_EQ(tokenizer.encode(text).size(), 256u);
  EXPECT_EQ(tokenizer.encode(text + "b"), tokenizer.encode(text));
  EXPECT_EQ(tokenizer.encode(text + "b").back(), 3);
}

TEST(Truncation, CutsInsideAWord) {
  const Tokenizer tokenizer(small_vocabulary({"a", "##b"}), 4);
  EXPECT_EQ(tokenizer.encode("abbb"), (Ids{2, 4, 5, 3}));
}

TEST(Truncation, RoomForTheEndsAtLeast) {
  EXPECT_EQ(Tokenizer(small_vocabulary({"a"}), 2).encode("a"), (Ids{2, 3}));
  EXPECT_EQ(user_error([] { Tokenizer(small_vocabulary({"a"}), 1); }),
            "a limit of 1 tokens leaves no room for [CLS] and [SEP]");
}

}  // namespace minilm
