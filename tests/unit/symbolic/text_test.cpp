// The text of expressions and conditions, and the words of the parser's errors.
#include <gtest/gtest.h>
#include <stax/base/error.h>

#include "symbolic/analysis.h"

namespace stax::symbolic {

class Text : public testing::Test {
 protected:
  Context c;
  Expr s0 = c.symbol("s0"), s1 = c.symbol("s1"), s2 = c.symbol("s2"), s10 = c.symbol("s10"), i0 = c.symbol("i0");
  SymbolOf known = [this](std::string_view name) { return c.find_symbol(name).value_or(Expr()); };
  Expr expr(std::string_view text) { return parse_expr(text, c, known); }
  std::string again(std::string_view text) { return to_string(expr(text)); }
  std::string again_bool(std::string_view text) { return to_string(parse_bool(text, c, known)); }
  std::string problem(std::string_view text) {
    try {
      parse_bool(text, c, known);
    } catch (const UserError& e) {
      return e.problem();
    }
    return "no error";
  }
};

TEST_F(Text, SumsAndProductsAreSorted) {
  EXPECT_EQ(to_string(-1 + i0 * 2 + s1 * s0), "s0*s1 + 2*i0 - 1");
  EXPECT_EQ(to_string(s10 + s2), "s2 + s10");
  EXPECT_EQ(to_string(-s0), "-s0");
  EXPECT_EQ(to_string(s0 - s0), "0");
  EXPECT_EQ(to_string((s0 + 1) * (s0 - 1)), "s0*s0 - 1");
  EXPECT_EQ(to_string(-3 * s0 * s1 - s0), "-3*s0*s1 - s0");
  EXPECT_EQ(to_string(Expr()), "<null>");
}

TEST_F(Text, OperationsAreCalls) {
  for (const char* text : {"floordiv(s0, s1)", "floormod(s0, 4)", "ceildiv(s0, 8)", "truncdiv(s0, 3)",
                           "truncmod(s0, s1)", "min(s0, s1)", "max(s0, 4)", "s0 + 4*floordiv(s0 + s1, 3) - 2"}) {
    EXPECT_EQ(again(text), text);
  }
}

TEST_F(Text, ConditionsAreCanonical) {
  EXPECT_EQ(again_bool("s0 > 4"), "5 <= s0");
  EXPECT_EQ(again_bool("s0 >= s1"), "s1 <= s0");
  EXPECT_EQ(again_bool("s0 < s1"), "s0 < s1");
  EXPECT_EQ(again_bool("2*s0 - 4 == 2*s1"), "s0 == s1 + 2");
  EXPECT_EQ(again_bool("2*s0 < 2*s1 + 1"), "s0 <= s1");
  EXPECT_EQ(again_bool("s0 != 1"), "s0 != 1");
  EXPECT_EQ(again_bool("!(s0 < s1 && s0 == 2)"), "s0 != 2 || s1 <= s0");
  EXPECT_EQ(again_bool("(s0 == 1 || s1 == 1) && s2 == 3"), "s2 == 3 && (s0 == 1 || s1 == 1)");
  EXPECT_EQ(again_bool("true && 3 < 2"), "false");
  EXPECT_EQ(again_bool("s0 < s1 || s0 >= s1"), "true");
  EXPECT_EQ(again_bool("2*s0 == 2*s1 + 1"), "false");
}

TEST_F(Text, EqualConditionsAreOneNode) {
  EXPECT_EQ(lt(s0, s1), gt(s1, s0));
  EXPECT_EQ(lt(s0, s1), le(s0 + 1, s1));
  EXPECT_EQ(eq(s0, s1), eq(s1 - s0, 0));
  EXPECT_EQ(!lt(s0, s1), ge(s0, s1));
}

TEST_F(Text, ExtremeConstantsRoundTrip) {
  for (std::int64_t v : {INT64_MIN, INT64_MAX}) {
    for (Expr e : {c.constant(v), s0 + v, s0 * v, s0 + s1 * v - 1}) EXPECT_EQ(expr(to_string(e)), e) << to_string(e);
  }
}

TEST_F(Text, PrefixStopsWhereTheExpressionEnds) {
  std::string_view text = "s0*2 + i0] = 4";
  EXPECT_EQ(parse_expr_prefix(text, c, known), s0 * 2 + i0);
  EXPECT_EQ(text, "] = 4");
  text = "i0 < s0; i1 < s1";
  EXPECT_EQ(parse_bool_prefix(text, c, known), lt(i0, s0));
  EXPECT_EQ(text, "; i1 < s1");
  text = "i0 < s0";
  EXPECT_EQ(parse_expr_prefix(text, c, known), i0);
  EXPECT_EQ(text, " < s0");
}

TEST_F(Text, SymbolNamesMayHoldPercentAndDots) {
  auto make = [&](std::string_view name) { return c.symbol(name); };
  EXPECT_EQ(to_string(parse_expr("384*%8 + x.size_0", c, make)), "384*%8 + x.size_0");
}

TEST_F(Text, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(problem("s0 +"), "line 1, column 5: expected an expression, found the end of the text");
  EXPECT_EQ(problem("s0 < \n  q7"), "line 2, column 3: unknown symbol q7");
  EXPECT_EQ(problem("s0 + 1"), "line 1, column 1: expected a condition, found an integer");
  EXPECT_EQ(problem("min(s0 s1) == 2"), "line 1, column 8: expected ',' between the arguments of min");
  EXPECT_EQ(problem("s0 == 1 ]"), "line 1, column 9: unexpected ']' after the expression");
  EXPECT_EQ(problem("99999999999999999999 < s0"), "line 1, column 1: the integer leaves 64 bits");
  EXPECT_EQ(problem("floordiv(s0, 0) < 1"), "line 1, column 1: floordiv(s0, 0): division by zero");
}

TEST_F(Text, StableHashIsThatOfTheText) {
  Context other;
  EXPECT_EQ(stable_hash(s0 * s1 + 1), stable_hash(other.symbol("s1") * other.symbol("s0") + 1));
  EXPECT_NE(stable_hash(s0), stable_hash(s1));
  EXPECT_EQ(stable_hash(c.constant(0)), 0xaf63ad4c86019cafull);  // FNV-1a of "0"
}

}  // namespace stax::symbolic
