// Known right answers (C08–C10) and arithmetic at the ends of 64 bits.
#include <gtest/gtest.h>
#include <stax/base/error.h>

#include "symbolic/analysis.h"

namespace stax::symbolic {

namespace {
std::optional<std::int64_t> at(Expr e, std::int64_t v) {
  return evaluate(e, [v](Expr) { return std::optional(v); });
}
}  // namespace

TEST(ValueCases, C08CeildivOfARunTimeSize) {
  Context c;
  Expr n = c.symbol("n", {.range = {0, INT32_MAX}});
  EXPECT_EQ(at(ceildiv(n, 10), 24), 3);
  EXPECT_EQ(range_of(ceildiv(n, 10)), (Range{0, 214748365}));
}

TEST(ValueCases, C09NestedModuloOfOddIndices) {
  Context c;
  Expr i = c.symbol("i", {.range = {0, kMaxInf}});
  Expr e = floormod(floordiv(floormod(i, 20), 2) * 2, 4);
  for (std::int64_t v = 0; v < 100; ++v) EXPECT_EQ(at(e, v), (v % 20) / 2 * 2 % 4) << v;
  EXPECT_EQ(at(e, 1), 0);
  EXPECT_EQ(at(e, 3), 2);
}

TEST(ValueCases, C10NegativeCommonFactor) {
  Context c;
  Expr a = c.symbol("a");
  Expr n = c.constant(-67 * 120) * (a - 73);
  EXPECT_EQ(at(floordiv(n, 69), -85), 18410);
  EXPECT_EQ(at(floordiv(n, 69), 73 + 1), -117);  // -8040 / 69 = -116.5
  EXPECT_EQ(at(floordiv(n, -69), -85), -18411);
  EXPECT_EQ(at(truncdiv(n, c.constant(-69)), -85), -18410);
}

TEST(ValueCases, OverflowIsAUserError) {
  Context c;
  Expr x = c.symbol("x"), big = c.constant(INT64_MAX);
  EXPECT_THROW(big + 1, UserError);
  EXPECT_THROW(x * INT64_MAX * 2, UserError);
  EXPECT_THROW(floordiv(c.constant(INT64_MIN), -1), UserError);
  EXPECT_THROW(-c.constant(INT64_MIN), UserError);
  try {
    (void)(big + 1);
  } catch (const UserError& e) {
    EXPECT_EQ(e.problem(), "integer overflow: 9223372036854775807 + 1 leaves 64 bits");
  }
  EXPECT_THROW(evaluate(x * x, [](Expr) { return std::optional<std::int64_t>(INT64_MAX); }), UserError);
  // Only the value must fit: the expanded form passes through larger numbers.
  Expr e = (x + 1) * (x - 1) - x * x;
  EXPECT_EQ(evaluate(e, [](Expr) { return std::optional<std::int64_t>(INT64_MAX); }), -1);
}

TEST(ValueCases, DivisionByZero) {
  Context c;
  Expr x = c.symbol("x");
  for (auto op : {static_cast<Expr (*)(Expr, Expr)>(floordiv), static_cast<Expr (*)(Expr, Expr)>(floormod),
                  static_cast<Expr (*)(Expr, Expr)>(ceildiv), truncdiv, truncmod}) {
    EXPECT_THROW(op(x, c.constant(0)), UserError);
    EXPECT_THROW(evaluate(op(c.constant(5), x), [](Expr) { return std::optional<std::int64_t>(0); }), UserError);
  }
}

TEST(ValueCases, DivisorThatMayBeZeroIsNotCancelled) {
  Context c;
  Expr x = c.symbol("x"), y = c.symbol("y", {.range = {0, kMaxInf}}), p = c.symbol("p", {.range = {1, kMaxInf}});
  auto at_zero = [](Expr s) { return std::optional<std::int64_t>(s.name() == "p" ? 1 : 0); };
  for (Expr e : {floordiv(x * y, y), floormod(x * y, y), floordiv(y, y), ceildiv(x * y, y * 2), truncdiv(x * y, y),
                 floormod(x * y, y * 3)}) {
    EXPECT_THROW(evaluate(e, at_zero), UserError) << to_string(e);
  }
  EXPECT_EQ(floordiv(x * p, p), x);
  EXPECT_EQ(floormod(x * p, p * 3), p * floormod(x, 3));
  Facts facts;
  facts.assume(ne(y, 0));
  EXPECT_EQ(simplify(floordiv(x * y, y), facts), x);
}

TEST(ValueCases, ComparisonsAtTheEndsOf64Bits) {
  Context c;
  Expr x = c.symbol("x"), y = c.symbol("y");
  Bool b = lt(x + INT64_MAX, y - 2);  // the difference of the constants leaves 64 bits
  auto value = [&](std::int64_t vx, std::int64_t vy) {
    return evaluate(b, [&](Expr s) { return std::optional(s == x ? vx : vy); });
  };
  EXPECT_EQ(value(-10, INT64_MAX), true);
  EXPECT_EQ(value(0, INT64_MAX), false);
  EXPECT_EQ(prove(b), Truth::unknown);
  EXPECT_EQ(range_of(c.constant(INT64_MAX)).hi, kMaxInf);
}

}  // namespace stax::symbolic
