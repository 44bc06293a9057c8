// What assumed conditions let one conclude.
#include <gtest/gtest.h>

#include "symbolic/analysis.h"

namespace stax::symbolic {

class FactsTest : public testing::Test {
 protected:
  Context c;
  Expr s0 = c.symbol("s0", {.range = {1, kMaxInf}}), s1 = c.symbol("s1", {.range = {1, kMaxInf}});
  Expr s2 = c.symbol("s2", {.range = {1, kMaxInf}}), x = c.symbol("x"), y = c.symbol("y");
  Facts facts;
  std::string simple(Expr e) { return to_string(simplify(e, facts)); }
};

TEST_F(FactsTest, ComparisonsNarrowEverySymbol) {
  facts.assume(le(s0 * 2 + s1, 11));
  EXPECT_EQ(facts.range(s0), (Range{1, 5}));
  EXPECT_EQ(facts.range(s1), (Range{1, 9}));
  facts.assume(gt(s0, 3));
  EXPECT_EQ(facts.range(s0), (Range{4, 5}));
  EXPECT_EQ(facts.range(s1), (Range{1, 3}));
  EXPECT_TRUE(always(le(s0 * 2 + s1, 11), &facts));
  EXPECT_TRUE(always(le(s0 * 2 + s1, 12), &facts));
  EXPECT_EQ(prove(gt(s0 * 2 + s1, 11), &facts), Truth::never);
  EXPECT_EQ(prove(le(s0 * 2 + s1, 10), &facts), Truth::unknown);
}

TEST_F(FactsTest, InequalityAtTheEndOfARangeNarrows) {
  facts.assume(ne(s0, 1));
  EXPECT_EQ(facts.range(s0), (Range{2, kMaxInf}));
  facts.assume(ne(s1, 2));
  EXPECT_EQ(facts.range(s1), (Range{1, kMaxInf}));
  facts.assume(ne(s1, 1));
  EXPECT_EQ(facts.range(s1), (Range{3, kMaxInf}));
}

TEST_F(FactsTest, DivisibilityIsRemembered) {
  facts.assume(eq(floormod(s0, 4), 0));
  facts.assume(eq(floormod(s0 * 3, 18), 0));  // s0 is a multiple of 6 too
  EXPECT_EQ(facts.multiple_of(s0), 12);
  EXPECT_EQ(simple(floormod(s0 + 3, 12)), "3");
  EXPECT_EQ(simple(floordiv(s0, 4) * 4), "s0");
  EXPECT_EQ(simple(ceildiv(s0, 6) * 6), "s0");
  EXPECT_EQ(facts.range(s0).lo, 12);
  EXPECT_EQ(prove(eq(s0, 18), &facts), Truth::never);
}

TEST_F(FactsTest, DivisibilityOfAProduct) {
  facts.assume(eq(floormod(s0 * s1, 8), 0));
  EXPECT_EQ(simple(floormod(s0 * s1, 8)), "0");
  EXPECT_TRUE(always(eq(floormod(s1 * s0 + 8, 8), 0), &facts));
}

TEST_F(FactsTest, EqualitiesReplaceTheLaterSymbol) {
  facts.assume(eq(s0, s1));
  EXPECT_EQ(simple(s1 * 2 + s0), "3*s0");
  facts.assume(eq(s2, s1 * 4));
  EXPECT_EQ(simple(floordiv(s2, s0)), "4");
  EXPECT_TRUE(always(eq(s2, s0 * 4), &facts));
  facts.assume(eq(s0, 3));
  EXPECT_EQ(simple(s0 + s1 + s2), "18");
}

TEST_F(FactsTest, EqualityCarriesWhatWasKnown) {
  Facts f;
  Expr m = c.symbol("m", {.range = {4, 64}, .multiple_of = 4});
  f.assume(eq(m, s0));  // s0 is the later name: it goes
  EXPECT_EQ(range_of(s0, &f), (Range{4, 64}));
  EXPECT_EQ(to_string(simplify(floormod(s0, 4), f)), "0");
  Facts g;
  Expr z = c.symbol("z", {.range = {4, 64}, .multiple_of = 4});
  g.assume(eq(z, s0));  // here z goes, and s0 takes over its facts
  EXPECT_EQ(g.range(s0), (Range{4, 64}));
  EXPECT_EQ(g.multiple_of(s0), 4);
}

TEST_F(FactsTest, CoefficientsOfAnEqualityGiveDivisibility) {
  facts.assume(eq(s0 * 2, s1 * 3));
  EXPECT_EQ(facts.multiple_of(s0), 3);
  EXPECT_EQ(facts.multiple_of(s1), 2);
}

TEST_F(FactsTest, StoredConditionImpliesWeakerOnes) {
  facts.assume(le(x, y));
  EXPECT_TRUE(always(le(x, y + 3), &facts));
  EXPECT_TRUE(always(lt(x, y + 1), &facts));
  EXPECT_TRUE(always(le(x * 2, y * 2 + s0), &facts));
  EXPECT_EQ(prove(lt(y, x), &facts), Truth::never);
  EXPECT_EQ(prove(lt(x, y), &facts), Truth::unknown);
  EXPECT_EQ(simple(min(x, y)), "x");
  EXPECT_EQ(simple(max(x + 1, y + 1)), "y + 1");
}

TEST_F(FactsTest, RangesDecideAtoms) {
  facts.assume(le(s0, 64));
  EXPECT_EQ(simple(floordiv(s0 - 1, 64)), "0");
  EXPECT_EQ(simple(floormod(s0 - 1, 64)), "s0 - 1");
  EXPECT_EQ(simple(min(s0, c.constant(64))), "s0");
  EXPECT_EQ(simple(ceildiv(s0, 64)), "1");
}

TEST_F(FactsTest, QuotientsNarrow) {
  facts.assume(eq(floordiv(s0, 8), 3));
  EXPECT_EQ(facts.range(s0), (Range{24, 31}));
  EXPECT_EQ(simple(floordiv(s0, 8)), "3");
  Facts more;
  more.assume(gt(ceildiv(s1, 16), 2));
  EXPECT_EQ(more.range(s1), (Range{33, kMaxInf}));
}

TEST_F(FactsTest, StoredConditionsFollowTheValueOfAnAtom) {
  const Expr half = floordiv(s1, 2);
  facts.assume(ne(s0 * half, s2 * 3));
  facts.assume(le(s0 * half, s2 + 7));
  facts.assume(eq(half, 4));
  EXPECT_TRUE(always(ne(s0 * 4, s2 * 3), &facts));
  EXPECT_TRUE(always(ne(s0 * half, s2 * 3), &facts));
  EXPECT_TRUE(always(le(s0 * 4, s2 + 8), &facts));
  EXPECT_TRUE(always(le(s0 * half, s2 + 8), &facts));
  EXPECT_EQ(prove(le(s0 * 4, s2 + 6), &facts), Truth::unknown);
  EXPECT_EQ(simple(half), "4");
}

TEST_F(FactsTest, DisjunctionsAreDecidedByCases) {
  facts.assume(ge(x, 0));
  EXPECT_TRUE(always(lt(x, 5) || ge(x, 3), &facts));
  EXPECT_TRUE(always(eq(x, 0) || gt(x, 0), &facts));
  EXPECT_EQ(prove(lt(x, 3) && gt(x, 5), &facts), Truth::never);
}

TEST_F(FactsTest, ContradictionIsNoticed) {
  EXPECT_FALSE(facts.contradictory());
  facts.assume(lt(s0, 4));
  facts.assume(gt(s0, 3));
  EXPECT_TRUE(facts.contradictory());
}

TEST_F(FactsTest, CyclicBoundsTerminate) {
  Expr i = c.symbol("i", {.range = {0, kMaxInf}, .below = s1});
  facts.assume(eq(s1, i + 1));
  EXPECT_TRUE(always(lt(i, s1), &facts));
  EXPECT_GE(facts.range(s1).lo, 1);
}

}  // namespace stax::symbolic
