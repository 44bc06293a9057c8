// Canonical form, symbols, linear parts, substitution, contexts.
#include <gtest/gtest.h>
#include <stax/base/error.h>

#include "symbolic/analysis.h"

namespace stax::symbolic {

class Structure : public testing::Test {
 protected:
  Context c;
  Expr x = c.symbol("x"), y = c.symbol("y"), z = c.symbol("z");
};

TEST_F(Structure, EqualPolynomialsAreOneNode) {
  EXPECT_EQ((x + y) * (x - y), x * x - y * y);
  EXPECT_EQ(x + y - x, y);
  EXPECT_EQ(x * (y + z), x * z + y * x);
  EXPECT_EQ(product(c, std::vector<Expr>{x, y, c.constant(2)}), 2 * x * y);
  EXPECT_EQ(product(c, {}), c.constant(1));
}

TEST_F(Structure, OperandsOfSumsAndProducts) {
  Expr e = 2 * x * y + z - 3;
  EXPECT_EQ(e.op(), Op::add);
  EXPECT_EQ(terms_of(e), (std::vector<Expr>{2 * x * y, z, c.constant(-3)}));
  EXPECT_EQ(e.operand(0).op(), Op::mul);
  EXPECT_EQ(e.operand(0).operand(0), c.constant(2));
  EXPECT_EQ(terms_of(x), std::vector<Expr>{x});
}

TEST_F(Structure, SymbolsInOrderOfAppearance) {
  EXPECT_EQ(symbols_of(z * y + floordiv(x, y)), (std::vector<Expr>{y, z, x}));
  EXPECT_TRUE(depends_on(floordiv(x + 1, y), x));
  EXPECT_FALSE(depends_on(floordiv(x + 1, y), z));
}

TEST_F(Structure, LinearPart) {
  auto l = linear_in(3 * x * y + x + z, x);
  ASSERT_TRUE(l);
  EXPECT_EQ(l->coefficient, 3 * y + 1);
  EXPECT_EQ(l->rest, z);
  EXPECT_FALSE(linear_in(x * x, x));
  EXPECT_FALSE(linear_in(floordiv(x, y) + x, x));
  EXPECT_EQ(linear_in(y, x)->coefficient, c.constant(0));
}

TEST_F(Structure, SubstitutionIsSimultaneous) {
  EXPECT_EQ(substitute(x * 2 + y, {{x, y}, {y, x}}), y * 2 + x);
  EXPECT_EQ(substitute(lt(x, y), {{x, c.constant(1)}, {y, c.constant(2)}}), c.boolean(true));
  Context other;
  Expr w = other.symbol("w");
  EXPECT_EQ(substitute(x + y, {{x, w}, {y, w * 2}}), w * 3);
  EXPECT_THROW(substitute(x + z, {{x, w}}), InternalError);
}

TEST_F(Structure, TransferTakesInfosAlong) {
  Expr n = c.symbol("n", {.range = {1, 9}, .multiple_of = 3, .hint = 6});
  Expr i = c.symbol("i", {.range = {0, kMaxInf}, .below = n});
  Context other;
  Expr moved = transfer(i + n, other);
  Expr i2 = *other.find_symbol("i"), n2 = *other.find_symbol("n");
  EXPECT_EQ(moved, i2 + n2);
  EXPECT_EQ(n2.info().multiple_of, 3);
  EXPECT_EQ(i2.info().below, n2);
  EXPECT_EQ(hint_of(n2 * 2), 12);
  EXPECT_EQ(hint_of(i2), std::nullopt);
}

TEST_F(Structure, SymbolsAreDeclaredOnce) {
  Expr n = c.symbol("n", {.range = {1, 9}});
  EXPECT_EQ(c.symbol("n"), n);
  EXPECT_EQ(c.symbol("n", {.range = {1, 9}}), n);
  EXPECT_THROW(c.symbol("n", {.range = {2, 9}}), InternalError);
}

TEST_F(Structure, ContextsDoNotMix) {
  Context other;
  EXPECT_THROW(x + other.symbol("x"), InternalError);
  EXPECT_EQ(x + other.constant(2), x + 2);
}

TEST_F(Structure, RangesAndDivisibility) {
  Expr n = c.symbol("n", {.range = {3, 100}, .multiple_of = 8});
  EXPECT_EQ(range_of(n), (Range{8, 96}));
  EXPECT_EQ(range_of(x * x), (Range{0, kMaxInf}));
  EXPECT_EQ(range_of(floormod(x, 8) * 2 - 1), (Range{-1, 13}));
  EXPECT_EQ(multiple_of(n * 6 + 12), 12);
  EXPECT_EQ(multiple_of(c.constant(0)), 0);
  EXPECT_EQ(multiple_of(floordiv(n, 2)), 4);
}

}  // namespace stax::symbolic
