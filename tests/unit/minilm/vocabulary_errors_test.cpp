#include "helpers.h"

namespace minilm {
namespace {

std::string parse_error(const std::string& text) {
  return user_error([&] { Vocabulary::parse(text, "v.txt"); });
}

}  // namespace

TEST(VocabularyErrors, MissingFile) {
  EXPECT_EQ(user_error([] { Vocabulary::load("/nowhere/vocab.txt"); }),
            "the vocabulary /nowhere/vocab.txt does not exist. Point --model at a folder that holds the model's "
            "vocab.txt.");
}

TEST(VocabularyErrors, Directory) {
  EXPECT_EQ(user_error([] { Vocabulary::load("/tmp"); }),
            "the vocabulary /tmp is a directory. Point --model at a folder that holds the model's vocab.txt.");
}

TEST(VocabularyErrors, EmptyFile) {
  const TempFile file("");
  EXPECT_EQ(user_error([&] { Vocabulary::load(file.path()); }), "the vocabulary " + file.path() + " is empty");
}

TEST(VocabularyErrors, NotUtf8) {
  EXPECT_EQ(parse_error("[PAD]\ncaf\xE9\n"), "the vocabulary v.txt is not UTF-8: line 2, byte offset 9");
}

TEST(VocabularyErrors, DuplicateToken) {
  EXPECT_EQ(parse_error("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[CLS]\n"),
            "the vocabulary v.txt holds the token '[CLS]' twice: on lines 3 and 5");
}

TEST(VocabularyErrors, EmptyLine) {
  EXPECT_EQ(parse_error("[PAD]\n\n[UNK]\n"), "the vocabulary v.txt has no token on line 2");
}

TEST(VocabularyErrors, MissingSpecialToken) {
  EXPECT_EQ(parse_error("[PAD]\n[UNK]\n[CLS]\nword\n"),
            "the vocabulary v.txt lacks the special token [SEP]. Use the vocab.txt of a BERT model.");
}

TEST(VocabularyErrors, CrlfAndMissingLastLineEndAreFine) {
  const Vocabulary vocabulary = Vocabulary::parse("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\nlast", "v.txt");
  EXPECT_EQ(vocabulary.size(), 5u);
  EXPECT_EQ(vocabulary.find("last"), 4);
  EXPECT_EQ(vocabulary.end(), 3);
}

}  // namespace minilm
