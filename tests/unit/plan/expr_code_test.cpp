#include "plan/expr_code.h"

#include <gtest/gtest.h>

#include <random>

#include "stax/base/error.h"
#include "symbolic/analysis.h"

namespace stax::plan {
namespace {

using symbolic::Bool;
using symbolic::Expr;

// Random expressions against symbolic::evaluate, over values of both signs and zero.
TEST(ExprCode, AgreesWithEvaluate) {
  std::mt19937 rng(7);
  symbolic::Context context;
  const std::vector<Expr> symbols{context.symbol("a"), context.symbol("b"), context.symbol("c")};
  auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng); };
  int compared = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Expr> pool = symbols;
    pool.push_back(context.constant(pick(9) - 4));
    for (int i = 0; i < 6; ++i) {
      const Expr x = pool[static_cast<std::size_t>(pick(static_cast<int>(pool.size())))],
                 y = pool[static_cast<std::size_t>(pick(static_cast<int>(pool.size())))];
      const int op = y.is_constant(0) ? pick(5) : pick(10);
      pool.push_back(op == 0   ? x + y
                     : op == 1 ? x - y
                     : op == 2 ? x * y
                     : op == 3 ? symbolic::min(x, y)
                     : op == 4 ? symbolic::max(x, y)
                     : op == 5 ? floordiv(x, y)
                     : op == 6 ? floormod(x, y)
                     : op == 7 ? ceildiv(x, y)
                     : op == 8 ? truncdiv(x, y)
                               : truncmod(x, y));
    }
    const Expr e = pool.back(), f = pool[pool.size() - 2];
    const Bool b = (lt(e, f) || eq(f, 2)) && !le(e, -3);
    ExprCode code(symbols);
    const int re = code.add(e), rb = code.add(b);
    for (int trial = 0; trial < 4; ++trial) {
      std::vector<std::int64_t> registers = code.initial();
      for (std::size_t i = 0; i < 3; ++i) registers[i] = pick(13) - 6;
      auto lookup = [&](Expr s) -> std::optional<std::int64_t> {
        for (std::size_t i = 0; i < 3; ++i)
          if (symbols[i] == s) return registers[i];
        return std::nullopt;
      };
      if (!code.run(registers.data(), 0, code.size())) continue;  // a division by zero
      ASSERT_EQ(registers[static_cast<std::size_t>(re)], *symbolic::evaluate(e, lookup)) << to_string(e);
      ASSERT_EQ(registers[static_cast<std::size_t>(rb)] != 0, *symbolic::evaluate(b, lookup)) << to_string(b);
      ++compared;
    }
  }
  EXPECT_GT(compared, 5000);
}

TEST(ExprCode, SharesSubExpressions) {
  symbolic::Context context;
  const std::vector<Expr> symbols{context.symbol("a"), context.symbol("b")};
  ExprCode code(symbols);
  const Expr product = symbols[0] * symbols[1];
  code.add(product);
  const int before = code.size();
  EXPECT_EQ(code.add(product), code.add(symbols[1] * symbols[0]));
  EXPECT_EQ(code.size(), before);
}

TEST(ExprCode, OverflowAndDivisionByZeroStop) {
  symbolic::Context context;
  const std::vector<Expr> symbols{context.symbol("a"), context.symbol("b")};
  auto runs = [&](Expr e, std::int64_t a, std::int64_t b) {
    ExprCode code(symbols);
    code.add(e);
    auto registers = code.initial();
    registers[0] = a, registers[1] = b;
    return code.run(registers.data(), 0, code.size());
  };
  EXPECT_FALSE(runs(symbols[0] * symbols[1], std::int64_t{1} << 40, std::int64_t{1} << 40));
  EXPECT_FALSE(runs(symbols[0] + symbols[1], INT64_MAX, 1));
  EXPECT_FALSE(runs(floordiv(symbols[0], symbols[1]), 3, 0));
  EXPECT_FALSE(runs(truncmod(symbols[0], symbols[1]), INT64_MIN, -1));
  EXPECT_TRUE(runs(floordiv(symbols[0], symbols[1]), 3, -2));
}

TEST(ExprCode, UnboundSymbolsAreOurFault) {
  symbolic::Context context;
  ExprCode code({});
  EXPECT_THROW(code.add(context.symbol("a")), InternalError);
}

}  // namespace
}  // namespace stax::plan
