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

}  // namespace
}  // namespace stax::codegen
