// Integer division by zero in compiled code names the operator and the user's line.
#include "message.h"

namespace stax::test {
namespace {

const Tensor five = full({3}, 5, i32), zero = zeros({3}, i32);

TEST(IntegerDivision, FloorDivide) {
  const auto f = compile([](Tensor a, Tensor b) { return floor_divide(a, b) + 1; });
  const std::string place = at(-1);
  EXPECT_EQ(message_of([&] { f(five, zero); }), "floor_divide: integer division by zero" + place);
  EXPECT_EQ(f(five, five).to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, 2, 2}));
}

TEST(IntegerDivision, TruncMod) {
  const auto f = compile([](Tensor a, Tensor b) { return trunc_mod(a, b); });
  const std::string place = at(-1);
  EXPECT_EQ(message_of([&] { f(five, zero); }), "trunc_mod: integer division by zero" + place);
}

TEST(IntegerDivision, Eager) {
  EXPECT_EQ(message_of([] { floor_mod(five, zero); }), "floor_mod: integer division by zero" + at());
}

TEST(IntegerDivision, FloatsGiveInfinity) {
  const auto f = compile([](Tensor a, Tensor b) { return a / b; });
  EXPECT_EQ(f(five, zero).to_vector<float>(), std::vector<float>(3, INFINITY));
}

}  // namespace
}  // namespace stax::test
