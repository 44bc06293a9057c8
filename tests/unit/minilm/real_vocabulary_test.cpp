// Hand-checked ids under the model's own vocabulary.
#include "helpers.h"

namespace minilm {
namespace {

class RealVocabulary : public testing::Test {
 protected:
  void SetUp() override {
    const auto path = model_folder() / "vocab.txt";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there: make deps fetches it";
    tokenizer_.emplace(Vocabulary::load(path.string()));
  }
  Ids encode(std::string_view text) const { return tokenizer_->encode(text); }
  std::optional<Tokenizer> tokenizer_;
};

}  // namespace

TEST_F(RealVocabulary, HasTheSpecialTokensOfBert) {
  const Vocabulary& vocabulary = tokenizer_->vocabulary();
  EXPECT_EQ(vocabulary.size(), 30522u);
  EXPECT_EQ((Ids{vocabulary.pad(), vocabulary.unknown(), vocabulary.start(), vocabulary.end()}),
            (Ids{0, 100, 101, 102}));
}

TEST_F(RealVocabulary, Plain) { EXPECT_EQ(encode("Hello, world!"), (Ids{101, 7592, 1010, 2088, 999, 102})); }

TEST_F(RealVocabulary, Accents) {
  EXPECT_EQ(encode("Crème brûlée à la carte"),
            (Ids{101, 13675, 21382, 7987, 9307, 2063, 1037, 2474, 11122, 2063, 102}));
}

TEST_F(RealVocabulary, German) {
  EXPECT_EQ(encode("Größe und Übermut"), (Ids{101, 24665, 2080, 17499, 6151, 19169, 28120, 102}));
}

TEST_F(RealVocabulary, Cjk) { EXPECT_EQ(encode("東京に行く"), (Ids{101, 1879, 1755, 1668, 1945, 1653, 102})); }

TEST_F(RealVocabulary, Pieces) {
  EXPECT_EQ(encode("unaffable tokenization hyperparameters"),
            (Ids{101, 14477, 20961, 3468, 19204, 3989, 23760, 28689, 22828, 2015, 102}));
}

TEST_F(RealVocabulary, Numbers) {
  EXPECT_EQ(encode("$3.50 + 12%"), (Ids{101, 1002, 1017, 1012, 2753, 1009, 2260, 1003, 102}));
}

TEST_F(RealVocabulary, Emoji) { EXPECT_EQ(encode("nice 😀"), (Ids{101, 3835, 100, 102})); }

TEST_F(RealVocabulary, Cyrillic) {
  EXPECT_EQ(encode("Привет мир"), (Ids{101, 1194, 16856, 10325, 25529, 15290, 22919, 1191, 10325, 16856, 102}));
}

TEST_F(RealVocabulary, ZeroWidth) { EXPECT_EQ(encode("in\u200Bvisible"), (Ids{101, 8841, 102})); }

TEST_F(RealVocabulary, Quotes) { EXPECT_EQ(encode("“don’t”"), (Ids{101, 1523, 2123, 1521, 1056, 1524, 102})); }

TEST_F(RealVocabulary, Jamo) { EXPECT_EQ(encode("한국"), (Ids{101, 1469, 30006, 30021, 29991, 30014, 30020, 102})); }

}  // namespace minilm
