// Index arithmetic of flattened and re-split loop nests.
#include <gtest/gtest.h>

#include "symbolic/analysis.h"

namespace stax::symbolic {

class Index : public testing::Test {
 protected:
  Context c;
  Expr s0 = c.symbol("s0", {.range = {1, kMaxInf}});
  Expr s1 = c.symbol("s1", {.range = {1, kMaxInf}});
  Expr s2 = c.symbol("s2", {.range = {1, kMaxInf}});
  Expr i0 = c.symbol("i0", {.range = {0, kMaxInf}, .below = s0});
  Expr i1 = c.symbol("i1", {.range = {0, kMaxInf}, .below = s1});
  Expr i2 = c.symbol("i2", {.range = {0, kMaxInf}, .below = s2});
};

TEST_F(Index, SymbolicSplitGivesTheIndicesBack) {
  Expr flat = i0 * s1 + i1;
  EXPECT_EQ(floordiv(flat, s1), i0);
  EXPECT_EQ(floormod(flat, s1), i1);
  EXPECT_TRUE(always(lt(flat, s0 * s1)));
  EXPECT_EQ(floordiv(flat, s0 * s1), c.constant(0));
}

TEST_F(Index, ThreeSymbolicDimensions) {
  Expr flat = i0 * s1 * s2 + i1 * s2 + i2;
  EXPECT_TRUE(always(lt(flat, s0 * s1 * s2)));
  EXPECT_EQ(floordiv(flat, s1 * s2), i0);
  EXPECT_EQ(floormod(floordiv(flat, s2), s1), i1);
  EXPECT_EQ(floormod(flat, s2), i2);
  EXPECT_EQ(floormod(flat, s1 * s2), i1 * s2 + i2);
  EXPECT_EQ(floordiv(floormod(flat, s1 * s2), s2), i1);
}

TEST_F(Index, ConstantInnerDimensions) {
  Expr h = c.symbol("h", {.range = {0, 11}}), d = c.symbol("d", {.range = {0, 31}});
  Expr flat = i0 * s1 * 384 + i1 * 384 + h * 32 + d;
  EXPECT_EQ(floordiv(floormod(flat, 384), 32), h);
  EXPECT_EQ(floormod(flat, 32), d);
  EXPECT_EQ(floormod(floordiv(flat, 384), s1), i1);
  EXPECT_EQ(floordiv(flat, s1 * 384), i0);
}

TEST_F(Index, ExtentOfASumIsSymbolic) {
  Expr extent = s1 + 1;
  Expr j = c.symbol("j", {.range = {0, kMaxInf}, .below = extent});
  EXPECT_EQ(floordiv(i0 * extent + j, extent), i0);
  EXPECT_EQ(floormod(i0 * extent + j, extent), j);
}

TEST_F(Index, FlatIndexOfAProductDomainSplits) {
  Expr flat = c.symbol("flat", {.range = {0, kMaxInf}, .below = s0 * s1});
  EXPECT_TRUE(always(lt(floordiv(flat, s1), s0)));
  EXPECT_TRUE(always(lt(floormod(flat, s1), s1)));
  EXPECT_EQ(floormod(floordiv(flat, s1), s0), floordiv(flat, s1));
  EXPECT_EQ(floordiv(flat, s1) * s1 + floormod(flat, s1), flat);
}

TEST_F(Index, SizesCancel) {
  EXPECT_EQ(floordiv(s0 * s1, s1), s0);
  EXPECT_EQ(floordiv(s0 * s1 * 4, s1 * 2), s0 * 2);
  EXPECT_EQ(floormod(s0 * s1, s1), c.constant(0));
  EXPECT_EQ(ceildiv(s0 * s1, s1), s0);
}

}  // namespace stax::symbolic
