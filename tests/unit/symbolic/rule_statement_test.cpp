// What each rule states, and what its implementation does, over all small values of every sign.
#include <gtest/gtest.h>
#include <stax/base/error.h>

#include "rule_cases.h"

namespace stax::symbolic::test {

TEST(RuleStatement, HoldsForAllSmallValues) {
  for (const RuleCase& c : rule_cases()) {
    std::int64_t n = c.names.size() <= 4 ? 7 : 4;
    std::vector<Range> box(c.names.size(), Range{-n, n});
    std::int64_t held = 0, wrong = 0;
    for_each_point(box, [&](const Point& p) {
      if (value_at(c.when, p) != Wide{1}) return;
      auto a = value_at(c.from, p);
      if (!a) return;  // undefined before is undefined after
      ++held;
      wrong += a != value_at(c.to, p);
    });
    EXPECT_EQ(wrong, 0) << c.title;
    EXPECT_GT(held, 10) << c.title;
  }
}

namespace {
// Variables of a rule: some are constants, the others symbols declared with `range`.
struct Instance {
  Context context;
  std::vector<Expr> variables;
  std::vector<Range> box;
};

void check_instance(const RuleCase& c, Instance& in, bool& fired) {
  Expr a, b, e;
  try {
    a = build(c.from.kids[0], in.context, in.variables);
    b = build(c.from.kids[1], in.context, in.variables);
    e = build(c.from, in.context, in.variables);
    Expr applied = c.rule->apply(a, b, Query(nullptr));
    fired |= static_cast<bool>(applied);
  } catch (const UserError&) {
    return;  // divides by the constant 0
  }
  for_each_point(in.box, [&](const Point& p) {
    auto v = value_at(c.from, p);
    if (!v) return;
    Point values = p;
    auto got = evaluate(e, [&](Expr s) -> std::optional<std::int64_t> {
      for (std::size_t i = 0; i < in.variables.size(); ++i) {
        if (in.variables[i] == s) return values[i];
      }
      return std::nullopt;
    });
    ASSERT_EQ(got, static_cast<std::int64_t>(*v)) << c.title << "\n" << to_string(e);
  });
}

// Under a sanitizer, most points of an exhaustive sweep are left out.
bool thinned(const Point& p) {
  std::int64_t sum = 0;
  for (std::int64_t v : p) sum += v;
  return kSlower > 1 && sum % 7 != 0;
}
}  // namespace

// Every choice of which variables are constants, their small values, and the declared ranges of the rest.
TEST(RuleStatement, ImplementationKeepsEveryValueAndFires) {
  static constexpr Range kDeclared[] = {{kMinInf, kMaxInf}, {-4, 4}, {0, kMaxInf}, {1, 3}, {-3, -1}};
  for (const RuleCase& c : rule_cases()) {
    bool fired = false;
    for (Range declared : kDeclared) {
      for (unsigned constants = 0; constants < (1u << c.names.size()); ++constants) {
        std::vector<Range> choices(c.names.size(), Range{0, 0});
        for (std::size_t i = 0; i < c.names.size(); ++i) {
          if (constants >> i & 1) choices[i] = c.names.size() <= 3 ? Range{-4, 4} : Range{-2, 3};
        }
        for_each_point(choices, [&](const Point& values) {
          if (testing::Test::HasFatalFailure()) return;
          Instance in;
          for (std::size_t i = 0; i < c.names.size(); ++i) {
            bool constant = constants >> i & 1;
            in.variables.push_back(constant ? in.context.constant(values[i])
                                            : in.context.symbol(c.names[i], {.range = declared}));
            std::int64_t lo = std::max<std::int64_t>(declared.lo, -3), hi = std::min<std::int64_t>(declared.hi, 3);
            in.box.push_back(constant ? Range{values[i], values[i]} : Range{lo, hi});
          }
          check_instance(c, in, fired);
        });
      }
    }
    EXPECT_TRUE(fired) << "never fires: " << c.title;
  }
}

// All pairs of operations around constants: op2(k·op1(a·x + b, c) + e, d), exhaustively.
TEST(RuleStatement, NestedOperationsOverAllSmallConstants) {
  static constexpr Kind kKinds[] = {Kind::floordiv, Kind::floormod, Kind::ceildiv, Kind::truncdiv,
                                    Kind::truncmod, Kind::min,      Kind::max};
  auto constant = [](std::int64_t v) { return Tree{Kind::constant, v, {}}; };
  Tree x{Kind::variable, 0, {}};
  for (Range declared : {Range{kMinInf, kMaxInf}, Range{0, kMaxInf}, Range{-7, 7}}) {
    Context context;
    std::vector<Expr> variables{context.symbol("x", {.range = declared})};
    for (Kind inner : kKinds) {
      for (Kind outer : kKinds) {
        for_each_point({{-3, 3}, {-2, 2}, {-4, 4}, {-1, 2}, {-4, 4}}, [&](const Point& k) {
          if (k[2] == 0 || k[4] == 0 || thinned(k) || testing::Test::HasFatalFailure()) return;
          Tree first{
              inner,
              0,
              {Tree{Kind::add, 0, {Tree{Kind::multiply, 0, {constant(k[0]), x}}, constant(k[1])}}, constant(k[2])}};
          Tree middle{Kind::add, 0, {Tree{Kind::multiply, 0, {constant(2), first}}, constant(k[3])}};
          Tree tree{outer, 0, {middle, constant(k[4])}};
          Expr e = build(tree, context, variables);
          for (std::int64_t v = std::max<std::int64_t>(declared.lo, -7); v <= 7; v += 3) {
            auto got = evaluate(e, [&](Expr) { return std::optional(v); });
            ASSERT_EQ(got, static_cast<std::int64_t>(*value_at(tree, {v})))
                << to_text(tree, {"x"}) << " at " << v << "\n"
                << to_string(e);
          }
        });
      }
    }
  }
}

// op(a·x + b·y, c) and op(x, y) for all small coefficients.
TEST(RuleStatement, TwoVariablesOverAllSmallCoefficients) {
  static constexpr Kind kKinds[] = {Kind::floordiv, Kind::floormod, Kind::ceildiv, Kind::truncdiv,
                                    Kind::truncmod, Kind::min,      Kind::max};
  auto term = [](std::int64_t v, std::int64_t variable) {
    return Tree{Kind::multiply, 0, {Tree{Kind::constant, v, {}}, Tree{Kind::variable, variable, {}}}};
  };
  for (Range declared : {Range{kMinInf, kMaxInf}, Range{0, 7}, Range{1, kMaxInf}}) {
    Context context;
    std::vector<Expr> variables{context.symbol("x", {.range = declared}), context.symbol("y", {.range = declared})};
    for (Kind kind : kKinds) {
      for_each_point({{-4, 4}, {-4, 4}, {-4, 4}, {-3, 3}}, [&](const Point& k) {
        if ((k[2] == 0 && k[3] == 0) || thinned(k) || testing::Test::HasFatalFailure()) return;
        Tree divisor{Kind::add, 0, {Tree{Kind::constant, k[2], {}}, term(k[3], 1)}};
        Tree tree{kind, 0, {Tree{Kind::add, 0, {term(k[0], 0), term(k[1], 1)}}, divisor}};
        Expr e = build(tree, context, variables);
        std::int64_t lo = std::max<std::int64_t>(declared.lo, -6);
        for_each_point({{lo, 6}, {lo, 6}}, [&](const Point& p) {
          auto v = value_at(tree, p);
          if (!v || (p[0] + p[1]) % 2 != 0) return;
          auto got = evaluate(e, [&](Expr s) { return std::optional(s.name() == "x" ? p[0] : p[1]); });
          ASSERT_EQ(got, static_cast<std::int64_t>(*v)) << to_text(tree, {"x", "y"}) << "\n" << to_string(e);
        });
      });
    }
  }
}

}  // namespace stax::symbolic::test
