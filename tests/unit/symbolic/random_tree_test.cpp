// Random expression trees against the reference: a simplifier must keep every value, and every claim must hold.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stax/base/error.h>

#include <array>

#include "tree.h"

namespace stax::symbolic::test {

namespace {
const Names kNames = {"x", "y", "z", "i"};

// The domain of one batch: x mixed, y from its own range, z positive, i a loop index below z.
struct Domain {
  Context context;
  std::vector<Expr> variables;
  std::vector<Range> box;
  std::vector<std::int64_t> multiples;

  explicit Domain(std::mt19937& random) {
    static constexpr std::array<Range, 6> kRanges = {Range{-7, 7}, {0, 6}, {1, 5}, {-6, -1}, {-3, 9}, {2, 2}};
    Range x = kRanges[random() % 2], y = kRanges[random() % kRanges.size()], z{1, 5};
    std::int64_t m = std::array{1, 1, 2, 4}[random() % 4];
    bool open = random() % 2;  // declared without an upper end
    variables.push_back(context.symbol("x", {.range = x}));
    variables.push_back(context.symbol("y", {.range = {y.lo, open ? kMaxInf : y.hi}}));
    variables.push_back(context.symbol("z", {.range = {1, open ? kMaxInf : 5}, .multiple_of = m}));
    variables.push_back(context.symbol("i", {.range = {0, kMaxInf}, .below = variables[2]}));
    box = {x, y, z, {0, 4}};
    multiples = {1, 1, m, 1};
  }
  bool allows(const Point& p) const { return p[2] % multiples[2] == 0 && p[3] < p[2]; }
  Point sample(std::mt19937& random) const {
    Point p;
    do {
      p.clear();
      for (Range r : box)
        p.push_back(r.lo + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(r.hi - r.lo + 1)));
    } while (!allows(p));
    return p;
  }
  Lookup at(const Point& p) const {
    return [this, &p](Expr s) -> std::optional<std::int64_t> {
      for (std::size_t i = 0; i < variables.size(); ++i) {
        if (variables[i] == s) return p[i];
      }
      return std::nullopt;
    };
  }
};

SymbolOf symbols_of_context(Context& c) {
  return [&c](std::string_view name) { return c.find_symbol(name).value_or(Expr()); };
}

std::string describe(const Tree& tree, const Point& p) {
  std::string text = to_text(tree, kNames) + " at";
  for (std::size_t i = 0; i < p.size(); ++i) text += fmt::format(" {}={}", kNames[i], p[i]);
  return text;
}

// A tree that divides by a constant zero throws at construction and is skipped.
template <class F>
void for_random_trees(unsigned seed, int batches, int trees, F f) {
  for (int b = 0; b < batches; ++b) {
    std::mt19937 random(seed + static_cast<unsigned>(b));
    Domain domain(random);
    Choose choose = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
    for (int t = 0; t < trees / kSlower && !testing::Test::HasFailure(); ++t) f(domain, random, choose);
  }
}
}  // namespace

TEST(RandomTree, ValueRangeAndDivisibilityHold) {
  int built = 0;
  for_random_trees(1, 110, 2000, [&](Domain& d, std::mt19937& random, const Choose& choose) {
    Tree tree = random_tree(choose, 4, 1 + static_cast<int>(random() % 3));
    Expr e;
    try {
      e = build(tree, d.context, d.variables);
    } catch (const UserError&) {
      return;
    }
    ++built;
    Range range = range_of(e);
    std::int64_t multiple = multiple_of(e);
    for (int k = 0; k < 5; ++k) {
      Point p = d.sample(random);
      auto v = value_at(tree, p);
      if (!v) continue;
      std::optional<std::int64_t> got;
      ASSERT_NO_THROW(got = evaluate(e, d.at(p))) << describe(tree, p) << "\n" << to_string(e);
      ASSERT_EQ(got, static_cast<std::int64_t>(*v)) << describe(tree, p) << "\n" << to_string(e);
      ASSERT_TRUE(range.contains(*got)) << describe(tree, p) << "\n"
                                        << to_string(e) << " in " << range.lo << ".." << range.hi;
      ASSERT_TRUE(multiple == 0 ? *got == 0 : *got % multiple == 0) << describe(tree, p) << "\n" << to_string(e);
    }
  });
  EXPECT_GE(built, 200000 / kSlower);
}

TEST(RandomTree, PrintParseRoundTripIsTheSameNode) {
  for_random_trees(1000, 20, 1000, [&](Domain& d, std::mt19937& random, const Choose& choose) {
    Tree tree = random_tree(choose, 4, 1 + static_cast<int>(random() % 3));
    Tree condition = random_condition(choose, 4, 2);
    try {
      Expr e = build(tree, d.context, d.variables);
      Bool b = build_bool(condition, d.context, d.variables);
      ASSERT_EQ(parse_expr(to_string(e), d.context, symbols_of_context(d.context)), e)
          << to_text(tree, kNames) << "\n"
          << to_string(e) << "\n"
          << to_string(parse_expr(to_string(e), d.context, symbols_of_context(d.context)));
      ASSERT_EQ(parse_bool(to_string(b), d.context, symbols_of_context(d.context)), b)
          << to_text(condition, kNames) << "\n"
          << to_string(b);
    } catch (const UserError&) {}
  });
}

TEST(RandomTree, SubstitutionAgreesWithEvaluation) {
  for_random_trees(2000, 20, 1000, [&](Domain& d, std::mt19937& random, const Choose& choose) {
    Tree tree = random_tree(choose, 4, 2), by = random_tree(choose, 4, 1);
    Expr e, r;
    try {
      e = build(tree, d.context, d.variables);
      Expr wide = d.context.symbol("wide");
      SymbolMap map;
      for (Expr v : d.variables) map[v] = v;
      map[d.variables[0]] = wide;
      r = substitute(e, map);  // x becomes a symbol without a range
    } catch (const UserError&) {
      return;
    }
    Point p = d.sample(random);
    auto v = value_at(tree, p);
    if (!v) return;
    auto got = evaluate(r, [&](Expr s) { return s.name() == "wide" ? std::optional(p[0]) : d.at(p)(s); });
    ASSERT_EQ(got, static_cast<std::int64_t>(*v)) << describe(tree, p) << "\n" << to_string(e) << "\n" << to_string(r);
  });
}

TEST(RandomTree, TransferKeepsTheText) {
  for_random_trees(3000, 10, 500, [&](Domain& d, std::mt19937& random, const Choose& choose) {
    Tree tree = random_tree(choose, 4, 1 + static_cast<int>(random() % 3));
    try {
      Expr e = build(tree, d.context, d.variables);
      Context other;
      ASSERT_EQ(to_string(transfer(e, other)), to_string(e));
      ASSERT_EQ(stable_hash(transfer(e, other)), stable_hash(e));
    } catch (const UserError&) {}
  });
}

TEST(RandomTree, FactsKeepValuesAndClaimsAreSound) {
  int decided = 0;
  for_random_trees(4000, 60, 300, [&](Domain& d, std::mt19937& random, const Choose& choose) {
    Tree tree = random_tree(choose, 4, 1 + static_cast<int>(random() % 2));
    Tree question = random_condition(choose, 4, 1);
    std::vector<Tree> assumed(1 + random() % 3);
    for (Tree& a : assumed) a = random_condition(choose, 4, random() % 4 == 0);
    Facts facts;
    Expr e, s;
    Bool q;
    Truth truth = Truth::unknown;
    try {
      e = build(tree, d.context, d.variables);
      q = build_bool(question, d.context, d.variables);
      for (const Tree& a : assumed) facts.assume(build_bool(a, d.context, d.variables));
      s = simplify(e, facts);
      truth = prove(q, &facts);
    } catch (const UserError&) {
      return;
    }
    decided += truth != Truth::unknown;
    Range range = range_of(e, &facts);
    std::int64_t multiple = multiple_of(e, &facts);
    if (!facts.contradictory()) {
      ASSERT_EQ(simplify(s, facts), s) << to_string(e) << "\n" << to_string(s);
    }
    auto claims = [&] {
      std::string text = "\nassumed";
      for (const Tree& a : assumed) text += fmt::format(" {}", to_text(a, kNames));
      for (Bool c : facts.conditions()) text += fmt::format("\n  kept {}", to_string(c));
      for (auto [k, v] : facts.equalities()) text += fmt::format("\n  {} = {}", to_string(k), to_string(v));
      return text;
    };
    for_each_point(d.box, [&](const Point& p) {
      if (testing::Test::HasFailure() || random() % 4 != 0 || !d.allows(p)) return;
      for (const Tree& a : assumed) {
        if (value_at(a, p).value_or(0) == 0) return;
      }
      ASSERT_FALSE(facts.contradictory()) << describe(tree, p) << claims();
      if (auto v = value_at(tree, p)) {
        ASSERT_EQ(evaluate(s, d.at(p)), static_cast<std::int64_t>(*v)) << describe(tree, p) << "\n"
                                                                       << to_string(e) << "\n"
                                                                       << to_string(s) << claims();
        ASSERT_TRUE(range.contains(static_cast<std::int64_t>(*v))) << describe(tree, p) << claims();
        ASSERT_TRUE(multiple == 0 ? *v == 0 : *v % multiple == 0) << describe(tree, p) << claims();
      }
      if (auto v = value_at(question, p); v && truth != Truth::unknown) {
        ASSERT_EQ(truth == Truth::always, *v != 0) << describe(question, p) << "\n" << to_string(q) << claims();
      }
    });
  });
  EXPECT_GE(decided, 1000 / kSlower);
}

}  // namespace stax::symbolic::test
