#include "codegen/common/expr_text.h"

#include <gtest/gtest.h>

#include "codegen/cpp/spelling.h"
#include "codegen/triton/spelling.h"

namespace stax::codegen {
namespace {

TEST(ExprText, ProductsAsDivisorsAreInParentheses) {
  symbolic::Context context;
  const auto i = context.symbol("i", {.range = {0, 1 << 20}}), n = context.symbol("n", {.range = {1, 100}}),
             m = context.symbol("m", {.range = {1, 100}});
  const symbolic::Facts facts;
  const std::string quotient = ExprText(kCppExprSpelling, facts)(symbolic::floordiv(i, n * m), {});
  EXPECT_TRUE(quotient == "(i / (n * m))" || quotient == "(i / (m * n))") << quotient;
  const std::string remainder = ExprText(kTritonExprSpelling, facts)(symbolic::floormod(i, n * m), {});
  EXPECT_TRUE(remainder == "((i) % ((n * m)))" || remainder == "((i) % ((m * n)))") << remainder;
}

// Triton sees the divisors of products, not those of quotients.
TEST(ExprText, QuotientsThatAreMultiplesOf16AreProductsInTriton) {
  symbolic::Context context;
  const auto n = context.symbol("n", {.range = {0, 1 << 30}});
  symbolic::Facts facts;
  const auto quotient = symbolic::floordiv(n, context.constant(4096));
  EXPECT_EQ(ExprText(kTritonExprSpelling, facts)(quotient, {}), "((n) // (4096))");
  facts.assume(symbolic::eq(symbolic::floormod(n, context.constant(65536)), context.constant(0)));
  EXPECT_EQ(ExprText(kTritonExprSpelling, facts)(quotient, {}), "((n) // (65536) * 16)");
  EXPECT_EQ(ExprText(kCppExprSpelling, facts)(quotient, {}), "(n / 4096)");
}

}  // namespace
}  // namespace stax::codegen
