#include "base/scanner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/text.h"
#include "message.h"

namespace stax::base {

TEST(Scanner, SkipsBlanksAndComments) {
  Scanner s(" # a comment\n\t x # another\n");
  EXPECT_EQ(s.expect_identifier(), "x");
  EXPECT_TRUE(s.at_end());
}

TEST(Scanner, WordsMatchWholePunctuationMatchesAPrefix) {
  Scanner s("graphs <= b");
  EXPECT_FALSE(s.accept("graph"));
  EXPECT_TRUE(s.accept("graphs"));
  EXPECT_TRUE(s.accept("<="));
  EXPECT_TRUE(s.accept("b"));
}

TEST(Scanner, ReadsDottedNames) {
  Scanner s("add.f32 %0");
  EXPECT_EQ(s.expect_dotted_name(), "add.f32");
  s.expect("%");
  EXPECT_EQ(s.expect_integer(), 0);
}

TEST(Scanner, ReadsIntegersOfFullRange) {
  Scanner s("0 -7 9223372036854775807 -9223372036854775808 0x1F");
  for (const std::int64_t want : {std::int64_t{0}, std::int64_t{-7}, INT64_MAX, INT64_MIN, std::int64_t{31}}) {
    EXPECT_EQ(s.expect_integer(), want);
  }
}

TEST(Scanner, AFloatIsNoIntegerAndARangeIsTwo) {
  Scanner s("2.5 1e3 3..4");
  EXPECT_FALSE(s.peek_integer());
  EXPECT_EQ(s.expect_float(), 2.5);
  EXPECT_FALSE(s.accept_integer());
  EXPECT_EQ(s.expect_float(), 1000);
  EXPECT_EQ(s.expect_integer(), 3);
  s.expect("..");
  EXPECT_EQ(s.expect_integer(), 4);
}

TEST(Scanner, ReadsFloatsInEverySpelling) {
  Scanner s("2 -0.0 .5 1.e2 0x1.8p1 0x1p-1074 inf -inf nan 1e999 1e-999");
  EXPECT_EQ(s.expect_float(), 2.0);
  const double zero = s.expect_float();
  EXPECT_TRUE(zero == 0 && std::signbit(zero));
  EXPECT_EQ(s.expect_float(), 0.5);
  EXPECT_EQ(s.expect_float(), 100);
  EXPECT_EQ(s.expect_float(), 3);
  EXPECT_EQ(s.expect_float(), 0x1p-1074);
  EXPECT_EQ(s.expect_float(), INFINITY);
  EXPECT_EQ(s.expect_float(), -INFINITY);
  EXPECT_TRUE(std::isnan(s.expect_float()));
  EXPECT_EQ(s.expect_float(), INFINITY);
  EXPECT_EQ(s.expect_float(), 0);
  EXPECT_TRUE(s.at_end());
}

TEST(Scanner, ReadsBackEveryPrintedFloat) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(value)) continue;
    const std::string text = float_text(value);
    EXPECT_EQ(Scanner(text).expect_float(), value) << text;
  }
}

TEST(Scanner, ReadsBackEveryPrintedString) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  const std::string text = quote(all);
  EXPECT_EQ(Scanner(text).expect_string(), all);
}

TEST(Scanner, InfinityIsNoPrefixOfAName) {
  Scanner s("info");
  EXPECT_FALSE(s.peek_float());
  EXPECT_EQ(s.expect_identifier(), "info");
}

TEST(Scanner, SubParserTakesOverAndReturns) {
  Scanner s("f( s0 + 1 )");
  s.expect("f");
  s.expect("(");
  const auto rest = s.rest();
  EXPECT_EQ(rest, "s0 + 1 )");
  s.advance(rest.find(')'));
  s.expect(")");
  EXPECT_TRUE(s.at_end());
}

TEST(Scanner, LineEndsAreVisible) {
  Scanner s("a b # c\nd");
  s.expect("a");
  EXPECT_FALSE(s.at_line_end());
  s.expect("b");
  EXPECT_TRUE(s.at_line_end());
  s.expect("d");
  EXPECT_TRUE(s.at_line_end());
}

TEST(Scanner, ErrorsNameFileLineAndColumn) {
  Scanner s("graph (\n\n  x: f32, 12)", "rows.stax");
  s.expect("graph");
  s.expect("(");
  EXPECT_EQ(message_of([&] { s.expect(")"); }), "rows.stax: line 3, column 3: expected ')', found 'x'");
  s.expect("x");
  s.expect(":");
  s.expect("f32");
  s.expect(",");
  EXPECT_EQ(message_of([&] { s.expect_identifier("a parameter"); }),
            "rows.stax: line 3, column 11: expected a parameter, found '12'");
}

TEST(Scanner, ErrorsAtTheEndSayso) {
  Scanner s("a\n");
  s.expect("a");
  EXPECT_EQ(message_of([&] { s.expect_float(); }), "line 2, column 1: expected a number, found the end of the text");
}

TEST(Scanner, ReportsOverflowAndBadStrings) {
  EXPECT_EQ(message_of([] { Scanner("9223372036854775808").expect_integer(); }),
            "line 1, column 1: the integer 9223372036854775808 does not fit 64 bits");
  EXPECT_EQ(message_of([] { Scanner("  \"abc\n\"").expect_string(); }),
            "line 1, column 3: the string has no closing '\"'");
  EXPECT_EQ(message_of([] { Scanner("\"a\\qb\"").expect_string(); }),
            "line 1, column 3: unknown escape \\q in a string");
  EXPECT_EQ(message_of([] { Scanner("\"\\x1\"").expect_string(); }),
            "line 1, column 2: the escape \\x needs two hexadecimal digits");
}

TEST(Scanner, ShowsAWholeUtf8Character) {
  EXPECT_EQ(message_of([] { Scanner("é!").expect("a"); }), "line 1, column 1: expected 'a', found 'é'");
}

}  // namespace stax::base
