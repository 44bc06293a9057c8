#include "helpers.h"
#include "sample_sentences.h"
#include "text_file.h"

namespace minilm {

TEST(Sentences, LineEndsByteOrderMarkAndEmptyLines) {
  const TempFile file(
      "\xEF\xBB\xBF"
      "first\r\n\r\n  second \n\n \t\nthird");
  EXPECT_EQ(read_sentences(file.path()), (Words{"first", "  second ", "third"}));
}

TEST(Sentences, OneLineWithoutEnd) {
  const TempFile file("ein Satz");
  EXPECT_EQ(read_sentences(file.path()), Words{"ein Satz"});
}

TEST(Sentences, InvalidUtf8NamesLineAndOffset) {
  const TempFile file("good\nalso good\ncaf\xE9\n");
  EXPECT_EQ(user_error([&] { read_sentences(file.path()); }),
            file.path() +
                ":3: the sentence is not valid UTF-8 at byte offset 3 of the line, 18 of the file. Convert the file "
                "to UTF-8 first.");
}

TEST(Sentences, NoneAtAll) {
  for (const char* content : {"", "\n\n", " \r\n\t\n"}) {
    const TempFile file(content);
    EXPECT_EQ(user_error([&] { read_sentences(file.path()); }),
              "the sentence file " + file.path() + " holds no sentence");
  }
}

TEST(Sentences, MissingFile) {
  EXPECT_EQ(user_error([] { read_sentences("/nowhere/in.txt"); }),
            "the sentence file /nowhere/in.txt does not exist. Give --in a UTF-8 file with one sentence a line.");
}

TEST(Sentences, SamplesAreValid) {
  const auto samples = sample_sentences();
  EXPECT_GE(samples.size(), 20u);
  for (const std::string& sample : samples) EXPECT_FALSE(split_words(sample).empty()) << sample;
}

}  // namespace minilm
