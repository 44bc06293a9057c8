#include "base/text.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace stax::base {

TEST(TextWriter, IndentsLinesAndLeavesBlankLinesBare) {
  TextWriter w;
  {
    auto graph = w.block("graph {");
    w.line("a");
    w.line();
    w << "b"
      << "c";
    w.line();
    auto inner = w.block("inner (", ")");
    w.format_line("{} = {}", "x", 3);
  }
  EXPECT_EQ(w.str(), "graph {\n  a\n\n  bc\n  inner (\n    x = 3\n  )\n}\n");
}

TEST(TextWriter, IndentsEachLineOfAMultilineText) {
  TextWriter w(4);
  w.indent();
  w.write("a\nb\n");
  w.dedent();
  w.write("c");
  EXPECT_EQ(w.str(), "    a\n    b\nc");
}

TEST(TextWriter, PadsToAColumn) {
  TextWriter w;
  w.write("first\n");
  w.write("ab").pad_to(5).write("|").pad_to(3).write("c");
  EXPECT_EQ(w.str(), "first\nab   |c");
}

TEST(FloatText, IsShortestAndLooksLikeAFloat) {
  EXPECT_EQ(float_text(2.0), "2.0");
  EXPECT_EQ(float_text(0.1f), "0.1");
  EXPECT_EQ(float_text(-0.0), "-0.0");
  EXPECT_EQ(float_text(1e-5), "1e-05");
  EXPECT_EQ(float_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(float_text(-std::numeric_limits<float>::infinity()), "-inf");
  EXPECT_EQ(float_text(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Quote, EscapesQuotesAndControlCharacters) { EXPECT_EQ(quote("a\"\\\n\t\x01z"), R"("a\"\\\n\t\x01z")"); }

TEST(Joined, PutsTheSeparatorBetweenItems) {
  EXPECT_EQ(joined(std::vector<std::string>{"a", "b"}), "a, b");
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
}

}  // namespace stax::base
