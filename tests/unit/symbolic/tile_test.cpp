// Questions that tiling and slicing ask.
#include <gtest/gtest.h>

#include "symbolic/analysis.h"

namespace stax::symbolic {

class Tile : public testing::Test {
 protected:
  Context c;
  Expr n = c.symbol("n", {.range = {1, kMaxInf}}), m = c.symbol("m", {.range = {1, kMaxInf}});
};

TEST_F(Tile, TailsStayInside) {
  Expr tile = c.symbol("tile", {.range = {0, kMaxInf}, .below = ceildiv(n, 8)});
  Expr width = min(c.constant(8), n - tile * 8);
  Expr lane = c.symbol("lane", {.range = {0, kMaxInf}, .below = width});
  EXPECT_TRUE(always(lt(tile * 8 + lane, n)));
  EXPECT_TRUE(always(ge(width, 1)));
  EXPECT_TRUE(always(le(width, 8)));
}

TEST_F(Tile, WholeTilesNeedNoTail) {
  Expr whole = c.symbol("whole", {.range = {0, kMaxInf}, .below = floordiv(n, 8)});
  Expr lane = c.symbol("lane8", {.range = {0, 7}});
  EXPECT_TRUE(always(lt(whole * 8 + lane, n)));
  EXPECT_TRUE(always(le(whole * 8 + 8, n)));
  EXPECT_EQ(min(c.constant(8), n - whole * 8), c.constant(8));
}

TEST_F(Tile, RoundingUpAndDown) {
  EXPECT_TRUE(always(ge(ceildiv(n, 8) * 8, n)));
  EXPECT_TRUE(always(lt(ceildiv(n, 8) * 8, n + 8)));
  EXPECT_TRUE(always(le(floordiv(n, 8) * 8, n)));
  EXPECT_TRUE(always(ge(ceildiv(n, m) * m, n)));
  EXPECT_TRUE(always(le(floordiv(n, m) * m, n)));
  EXPECT_TRUE(always(lt(n - floordiv(n, m) * m, m)));
  EXPECT_EQ(n - floordiv(n, 8) * 8, floormod(n, 8));
  EXPECT_EQ(ceildiv(ceildiv(n, 4), 8), ceildiv(n, 32));
}

TEST_F(Tile, SymbolicTileSizes) {
  Expr tile = c.symbol("t", {.range = {0, kMaxInf}, .below = ceildiv(n, m)});
  Expr lane = c.symbol("l", {.range = {0, kMaxInf}, .below = min(m, n - tile * m)});
  EXPECT_TRUE(always(lt(tile * m + lane, n)));
}

TEST_F(Tile, SlicesStayInside) {
  Expr start = c.symbol("start", {.range = {0, kMaxInf}}), stop = c.symbol("stop", {.range = {0, kMaxInf}});
  Expr first = min(start, n), last = max(first, min(stop, n));
  Expr length = ceildiv(last - first, 2);
  EXPECT_TRUE(always(ge(length, 0)));
  Expr i = c.symbol("i", {.range = {0, kMaxInf}, .below = length});
  EXPECT_TRUE(always(lt(first + 2 * i, n)));
}

TEST_F(Tile, ReversedIndex) {
  Expr i = c.symbol("i", {.range = {0, kMaxInf}, .below = n});
  Expr flipped = n - 1 - i;
  EXPECT_TRUE(always(ge(flipped, 0)));
  EXPECT_TRUE(always(lt(flipped, n)));
  EXPECT_EQ(floordiv(flipped * m, m), flipped);
}

TEST_F(Tile, PowersOfSizes) {
  EXPECT_TRUE(always(ge(n * n, n)));
  EXPECT_TRUE(always(ge(n * m, n)));
  EXPECT_TRUE(always(ge(n * m * 384, m * 384)));
  EXPECT_EQ(prove(gt(n * m, n)), Truth::unknown);
}

}  // namespace stax::symbolic
