// Guards recorded while tracing.
#include <gtest/gtest.h>
#include <stax/base/error.h>

#include "symbolic/shape_env.h"

namespace stax::symbolic {

class ShapeEnvTest : public testing::Test {
 protected:
  Context c;
  ShapeEnv env{c};
  Expr batch = env.new_symbol(8, {2, kMaxInf}, "x.size(0)", {"main.cpp", 3});
  Expr width = env.new_symbol(64, {2, kMaxInf}, "x.size(1)", {"main.cpp", 3});
};

TEST_F(ShapeEnvTest, SymbolsAreNumbered) {
  EXPECT_EQ(to_string(batch), "s0");
  EXPECT_EQ(to_string(width), "s1");
  EXPECT_EQ(env.symbols()[1].origin, "x.size(1)");
  ShapeEnv second{c};
  EXPECT_EQ(to_string(second.new_symbol(4, {0, 9}, "y.size(0)")), "s2");  // the context knows s0 and s1
}

TEST_F(ShapeEnvTest, DecisionFollowsTheHintAndIsRecorded) {
  EXPECT_TRUE(env.decide(gt(batch, 4), "x.size(0) > 4", {"main.cpp", 7}));
  ASSERT_EQ(env.guards().size(), 1u);
  EXPECT_EQ(to_string(env.guards()[0].condition), "5 <= s0");
  EXPECT_EQ(env.guards()[0].reason, "x.size(0) > 4");
  EXPECT_EQ(env.guards()[0].where.line, 7);
  EXPECT_FALSE(env.decide(gt(width, 100), "x.size(1) > 100"));
  EXPECT_EQ(to_string(env.guards()[1].condition), "s1 <= 100");
  EXPECT_EQ(env.range_of(width), (Range{2, 100}));
}

TEST_F(ShapeEnvTest, ImpliedConditionsAreNotRecorded) {
  EXPECT_TRUE(env.decide(ge(batch, 2), "declared"));
  EXPECT_FALSE(env.decide(eq(batch, 1), "declared"));
  EXPECT_TRUE(env.guards().empty());
  env.decide(gt(batch, 4), "first");
  EXPECT_TRUE(env.decide(gt(batch, 3), "weaker"));
  EXPECT_FALSE(env.decide(le(batch, 4), "opposite"));
  EXPECT_EQ(env.guards().size(), 1u);
}

TEST_F(ShapeEnvTest, EqualSizesAreSubstituted) {
  Expr other = env.new_symbol(8, {2, kMaxInf}, "y.size(0)");
  EXPECT_TRUE(env.decide(eq(batch, other), "broadcast of add"));
  EXPECT_EQ(env.simplify(other * width), batch * width);
  EXPECT_TRUE(env.decide(eq(other * 4, batch * 4), "implied"));
  EXPECT_TRUE(env.decide(gt(other, 5), "on one"));
  EXPECT_TRUE(env.is_always(gt(batch, 5)));
  EXPECT_EQ(env.guards().size(), 2u);
}

TEST_F(ShapeEnvTest, SpecializeFixesTheValueOnce) {
  EXPECT_EQ(env.specialize(batch * 2, "used as a number"), 16);
  ASSERT_EQ(env.guards().size(), 1u);
  EXPECT_EQ(to_string(env.guards()[0].condition), "s0 == 8");
  EXPECT_EQ(env.specialize(batch, "again"), 8);
  EXPECT_EQ(env.specialize(c.constant(5), "constant"), 5);
  EXPECT_EQ(env.guards().size(), 1u);
}

TEST_F(ShapeEnvTest, SizesWithoutHintAreDataDependent) {
  Expr count = env.new_symbol(std::nullopt, {0, kMaxInf}, "nonzero(x).size(0)");
  EXPECT_TRUE(env.decide(ge(count, 0), "proven"));
  try {
    env.decide(gt(count, 3), "count > 3", {"main.cpp", 9});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(
        e.problem(),
        "the condition 4 <= s2 (count > 3) depends on the data: s2 = nonzero(x).size(0) has no value while tracing");
    EXPECT_EQ(e.where().line, 9);
  }
  EXPECT_THROW(env.specialize(count, "as a number"), UserError);
  env.add_guard({le(count, 10), "declared", {}});
  EXPECT_TRUE(env.decide(lt(count, 11), "now proven"));
}

// Asking again after more is known neither changes the answer nor records a guard.
TEST_F(ShapeEnvTest, DecisionsStayProven) {
  const Expr half = floordiv(width, 2);
  const Bool first = ne(batch * half, half * ceildiv(batch, 2) * 2 + floormod(batch + 1, 2) - 1);
  const Bool second = eq(batch * width, 7), third = eq(half * batch, width * 4);
  const bool one = env.decide(first, "first"), two = env.decide(second, "second"), three = env.decide(third, "third");
  EXPECT_TRUE(env.decide(eq(half, 32), "later"));
  EXPECT_TRUE(env.decide(ne(batch, 3), "later"));
  const std::size_t guards = env.guards().size();
  EXPECT_EQ(env.decide(first, "again"), one);
  EXPECT_EQ(env.decide(second, "again"), two);
  EXPECT_EQ(env.decide(third, "again"), three);
  EXPECT_EQ(env.guards().size(), guards);
}

TEST_F(ShapeEnvTest, HintOutsideTheRangeIsRefused) {
  try {
    env.new_symbol(1, {2, kMaxInf}, "y.size(0)", {"main.cpp", 4});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.problem(), "y.size(0) = 1 is outside of its range [2, any]");
  }
}

TEST_F(ShapeEnvTest, ContradictingGuardIsRefused) {
  env.add_guard({eq(batch, 8), "declared", {}});
  EXPECT_THROW(env.add_guard({eq(batch, 9), "declared", {}}), UserError);
}

}  // namespace stax::symbolic
