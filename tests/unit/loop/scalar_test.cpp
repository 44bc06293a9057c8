// The meaning of scalar operations.
#include "loop/scalar_eval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loop/verify.h"

namespace stax::loop {
namespace {

template <class T, class R = T>
R apply(ScalarOp op, T a, T b = T(), T c = T()) {
  R out{};
  const LaneFn f = lane_function(op, dtype_of<T>());
  EXPECT_TRUE(f != nullptr && f(1, &out, &a, &b, &c));
  return out;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

TEST(LoopScalar, TableAgreesWithTheFunctions) {
  for (int i = 0; i < kScalarOpCount; ++i) {
    const auto op = static_cast<ScalarOp>(i);
    const ScalarOpInfo& info = info_of(op);
    EXPECT_EQ(parse_scalar_op(info.name), op);
    if (info.operands == OperandClass::_ || info.result == ResultRule::given || op == ScalarOp::bounded ||
        op == ScalarOp::round_to)
      continue;
    for (int t = 0; t < kDtypeCount; ++t) {
      const auto dtype = static_cast<Dtype>(t);
      if (is_half(dtype)) continue;
      EXPECT_EQ(lane_function(op, dtype) != nullptr, takes(info.operands, dtype)) << info.name << to_text(dtype);
    }
  }
  for (int i = 0; i < kCombineOpCount; ++i)
    EXPECT_EQ(parse_combine_op(info_of(static_cast<CombineOp>(i)).name), static_cast<CombineOp>(i));
}

TEST(LoopScalar, MaximumAndMinimum) {
  using enum ScalarOp;
  EXPECT_TRUE(std::isnan(apply(max, kNan, 1.0F)) && std::isnan(apply(max, 1.0F, kNan)));
  EXPECT_TRUE(std::isnan(apply(min, kNan, -kInf)) && std::isnan(apply(min, -kInf, kNan)));
  EXPECT_FALSE(std::signbit(apply(max, -0.0F, 0.0F)) || std::signbit(apply(max, 0.0F, -0.0F)));
  EXPECT_TRUE(std::signbit(apply(min, -0.0F, 0.0F)) && std::signbit(apply(min, 0.0F, -0.0F)));
  EXPECT_TRUE(apply(max, false, true));
  EXPECT_FALSE(apply(min, false, true));
}

TEST(LoopScalar, WrappingIntegers) {
  using enum ScalarOp;
  EXPECT_EQ((apply<std::uint8_t>(add, 128, 128)), 0);
  EXPECT_EQ((apply<std::int8_t>(neg, -128)), -128);
  EXPECT_EQ((apply<std::int8_t>(abs, -128)), -128);
  EXPECT_EQ((apply<std::uint8_t>(neg, 1)), 255);
  EXPECT_EQ((apply<std::int64_t>(mul, INT64_MAX, 2)), -2);
  EXPECT_EQ((apply<std::int64_t>(trunc_div, INT64_MIN, -1)), INT64_MIN);
  EXPECT_EQ((apply<std::int32_t>(floor_div, INT32_MIN, -1)), INT32_MIN);
  EXPECT_EQ((apply<std::int32_t>(trunc_mod, INT32_MIN, -1)), 0);
  EXPECT_EQ((apply<std::int16_t>(floor_mod, -7, 3)), 2);
  EXPECT_EQ((apply<std::int16_t>(trunc_mod, -7, 3)), -1);
  EXPECT_EQ((apply<std::uint8_t>(floor_div, 200, 7)), 28);
  EXPECT_EQ((apply<std::int64_t>(pow, 3, 5)), 243);
  EXPECT_EQ((apply<std::int64_t>(pow, -1, -3)), -1);
  EXPECT_EQ((apply<std::int64_t>(pow, 2, -1)), 0);
  EXPECT_EQ((apply<std::uint8_t>(pow, 2, 9)), 0);
  EXPECT_EQ((apply<std::uint8_t>(bit_not, 5)), 250);
}

TEST(LoopScalar, DivisionByZeroIsReported) {
  std::int32_t a = 1, b = 0, out = 0;
  EXPECT_FALSE(lane_function(ScalarOp::floor_mod, Dtype::i32)(1, &out, &a, &b, nullptr));
  EXPECT_EQ(fold(ScalarOp::trunc_div, Dtype::i32, Dtype::i32, 1, 0, 0), std::nullopt);
  EXPECT_EQ(apply(ScalarOp::div, 1.0F, 0.0F), kInf);
}

TEST(LoopScalar, FloatDivisions) {
  using enum ScalarOp;
  EXPECT_EQ(apply(floor_div, 1.0, 0.1), 9.0);  // the exact quotient is below 10
  EXPECT_EQ(apply(floor_div, -7.0F, 2.0F), -4.0F);
  EXPECT_EQ(apply(trunc_div, -7.0F, 2.0F), -3.0F);
  EXPECT_EQ(apply(floor_mod, -7.0F, 2.0F), 1.0F);
  EXPECT_EQ(apply(trunc_mod, -7.0F, 2.0F), -1.0F);
  EXPECT_TRUE(std::isnan(apply(floor_mod, 1.0F, 0.0F)));
}

TEST(LoopScalar, SignRoundAndFma) {
  using enum ScalarOp;
  EXPECT_TRUE(std::isnan(apply(sign, kNan)));
  EXPECT_EQ(apply(sign, -3.0F), -1.0F);
  EXPECT_TRUE(std::signbit(apply(neg, 0.0F)));
  EXPECT_EQ(apply(round, 2.5F), 2.0F);
  EXPECT_EQ(apply(round, 3.5F), 4.0F);
  const float e = 0x1p-12F;
  EXPECT_EQ(apply(fma, 1 + e, 1 - e, -1.0F), -0x1p-24F);
}

TEST(LoopScalar, Conversions) {
  const auto cast = [](auto v, auto to) {
    decltype(to) out{};
    cast_function(dtype_of<decltype(v)>(), dtype_of<decltype(to)>())(1, &out, &v, nullptr, nullptr);
    return out;
  };
  EXPECT_EQ(cast(-2.7F, std::int32_t{}), -2);
  EXPECT_EQ(cast(300.0F, std::uint8_t{}), 44);
  EXPECT_EQ(cast(kNan, std::int64_t{}), 0);
  EXPECT_EQ(cast(kInf, std::int64_t{}), INT64_MAX);
  EXPECT_TRUE(cast(kNan, false));
  EXPECT_FALSE(cast(-0.0F, false));
  EXPECT_EQ(cast(std::int64_t{257}, std::uint8_t{}), 1);
  EXPECT_EQ(static_cast<float>(cast(65536.0F, Half{})), kInf);
  float v = 1.00390625F, out = 0;
  round_function(Dtype::bf16)(1, &out, &v, nullptr, nullptr);
  EXPECT_EQ(out, 1.0F);  // a tie goes to even
}

TEST(LoopScalar, FoldingIsExactOnly) {
  EXPECT_EQ(fold(ScalarOp::exp, Dtype::f32, Dtype::f32, 0, 0, 0), std::nullopt);
  EXPECT_EQ(fold(ScalarOp::pow, Dtype::f32, Dtype::f32, 0, 0, 0), std::nullopt);
  EXPECT_EQ(fold(ScalarOp::sqrt, Dtype::f32, Dtype::f32, bits_of_double(9, Dtype::f32), 0, 0),
            bits_of_double(3, Dtype::f32));
  EXPECT_EQ(
      fold(ScalarOp::lt, Dtype::f32, Dtype::boolean, bits_of_double(1, Dtype::f32), bits_of_double(2, Dtype::f32), 0),
      1U);
  EXPECT_EQ(fold(ScalarOp::select, Dtype::i8, Dtype::i8, 0, 1, bits_of_int(-1, Dtype::i8)), bits_of_int(-1, Dtype::i8));
}

}  // namespace
}  // namespace stax::loop
