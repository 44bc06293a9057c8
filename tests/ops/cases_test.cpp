// Small programs on which tensor compilers have been wrong, in every form.
#include <cmath>
#include <limits>

#include "forms.h"

namespace stax::optest {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

Tensor ints(const std::vector<std::int64_t>& v) { return from_vector(v, {Dim(v.size())}); }
Tensor floats(const std::vector<float>& v) { return from_vector(v, {Dim(v.size())}); }

TEST(KnownCases, C01NarrowIntegersWrap) {
  const TensorFunction f = [](Tensors in) { return Tensors{(in[0] + in[0]).to(i16)}; };
  expect_forms(f, {full({}, 128, u8)}, {full({}, 0, i16)});
  expect_forms(f, {full({35}, 128, u8)}, {full({35}, 0, i16)});
  expect_forms(f, {full({35}, 64, i8)}, {full({35}, -128, i16)});
}

TEST(KnownCases, C02WideProducts) {
  const TensorFunction f = [](Tensors in) { return Tensors{arange(in[0].size(0)) * in[1]}; };
  std::vector<std::int64_t> expected;
  for (std::int64_t k = 0; k < 9; ++k) expected.push_back(k * 1500000000);
  expect_forms(f, {zeros({9}), full({1}, std::int64_t{1500000000}, i64)}, {ints(expected)});
}

TEST(KnownCases, C03CastOverflowsToInfinity) {
  const TensorFunction f = [](Tensors in) { return Tensors{in[0].to(f16), in[0].to(f16).to(f32)}; };
  const Tensor x = floats({65536.0F, 65504.0F, 65519.0F, 65520.0F, -65520.0F});
  const Tensor y = floats({kInf, 65504.0F, 65504.0F, kInf, -kInf});
  expect_forms(f, {x}, {y.to(f16), y});
}

TEST(KnownCases, C04StoredHalfIsTheHalfThatIsUsed) {
  const TensorFunction f = [](Tensors in) {
    const Tensor y = in[0] * in[0];
    return Tensors{y, y / in[0], isinf(y), where(isinf(y), 0, y)};
  };
  for (const Shape& shape : {Shape{40}, Shape{5, 17}})
    expect_forms(
        f, {full(shape, 300.0, f16)},
        {full(shape, INFINITY, f16), full(shape, INFINITY, f16), full(shape, true, boolean), full(shape, 0.0, f16)});
}

TEST(KnownCases, C05BooleansSumAsIntegers) {
  const TensorFunction f = [](Tensors in) { return Tensors{cumsum(in[0].to(boolean), 1), sum(in[0].to(boolean), 1)}; };
  expect_forms(f, {full({2, 4}, 1, i32)},
               {from_vector(std::vector<std::int64_t>{1, 2, 3, 4, 1, 2, 3, 4}, {2, 4}), ints({4, 4})});
}

TEST(KnownCases, C06FloorAndTruncatingDivision) {
  const TensorFunction f = [](Tensors in) {
    return Tensors{floor_divide(in[0], -2), trunc_divide(in[0], -2), floor_mod(in[0], -2), trunc_mod(in[0], -2)};
  };
  std::vector<std::int64_t> floors, truncs, mods, rems;
  for (std::int64_t i = 0; i < 16; ++i) {
    floors.push_back(-((i + 1) / 2)), truncs.push_back(-(i / 2)), mods.push_back(-(i % 2)), rems.push_back(i % 2);
  }
  expect_forms(f, {arange(16)}, {ints(floors), ints(truncs), ints(mods), ints(rems)});
}

TEST(KnownCases, C07SmallestByMinusOne) {
  const TensorFunction f = [](Tensors in) {
    return Tensors{floor_divide(in[0], in[1]), trunc_divide(in[0], in[1]), floor_mod(in[0], in[1])};
  };
  for (const Dtype t : {i8, i16, i32, i64}) {
    const std::int64_t low = t == i64 ? INT64_MIN : -(std::int64_t{1} << (byte_size(t) * 8 - 1));
    for (const std::int64_t n : {1, 19})
      expect_forms(f, {full({n}, low, t), full({1}, -1, t)}, {full({n}, low, t), full({n}, low, t), full({n}, 0, t)});
  }
}

TEST(KnownCases, C08CeilingDivision) {
  const TensorFunction f = [](Tensors in) { return Tensors{-floor_divide(-in[0], 10)}; };
  expect_forms(f, {from_vector(std::vector<std::int32_t>{24, 20, 21, 1, 0, INT32_MAX - 9}, {6})},
               {from_vector(std::vector<std::int32_t>{3, 2, 3, 1, 0, 214748364}, {6})});
  // As a size: blocks of ten of a length.
  const TensorFunction g = [](Tensors in) { return Tensors{slice(in[0], 0, std::nullopt, std::nullopt, 10)}; };
  expect_forms(g, {arange(24)}, {ints({0, 10, 20})});
}

TEST(KnownCases, C09ChannelLayout) {
  const TensorFunction f = [](Tensors in) { return Tensors{floor_mod(floor_divide(floor_mod(in[0], 20), 2) * 2, 4)}; };
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < 50; ++i) expected.push_back(i % 20 / 2 * 2 % 4);
  expect_forms(f, {arange(50)}, {ints(expected)});
  // The same as an address: four channels stored as pairs of two.
  const TensorFunction g = [](Tensors in) {
    return Tensors{contiguous(transpose(unflatten(in[0], 1, {2, 2}), 1, 2)).reshape({in[0].size(0), 4})};
  };
  expect_forms(
      g, {arange(20).reshape({5, 4})},
      {from_vector(std::vector<std::int64_t>{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15, 16, 18, 17, 19},
                   {5, 4})});
}

TEST(KnownCases, C10NegativeFactors) {
  const TensorFunction f = [](Tensors in) { return Tensors{floor_divide((in[0] - 73) * (-67 * 120), 69)}; };
  expect_forms(f, {full({1}, -85, i32)}, {full({1}, 18410, i32)});
  expect_forms(f, {full({21}, -85, i64)}, {full({21}, 18410, i64)});
}

TEST(KnownCases, C11NanPassesBounds) {
  const TensorFunction f = [](Tensors in) {
    return Tensors{clamp(in[0], 0.5), maximum(in[0], in[1]), clamp(in[2], 0.5)};
  };
  Tensor x = floats({-3, kNan, -1, 0, 1, 2, kNan}).to(f16), z = floats({0, 0, kNan, 0, 0, 0, 0}).to(f16);
  expect_forms(f, {x, z, arange(-3, 4)},
               {floats({.5, kNan, .5, .5, 1, 2, kNan}).to(f16), floats({0, kNan, kNan, 0, 1, 2, kNan}).to(f16),
                floats({.5, .5, .5, .5, 1, 2, 3})});
}

TEST(KnownCases, C12ArgReductionsSeeNan) {
  const TensorFunction f = [](Tensors in) { return Tensors{argmax(in[0], 0), argmin(in[0], 0), amax(in[0], 0)}; };
  expect_forms(f, {floats({kNan, 4.6151F})}, {full({}, 0, i64), full({}, 0, i64), full({}, NAN)});
  for (const std::size_t n : {15, 16, 17, 33, 100}) {
    std::vector<float> v(n, 1.0F);
    v[n - 2] = kNan, v[n - 1] = kNan, v[0] = kInf;
    const auto first = static_cast<std::int64_t>(n - 2);
    expect_forms(f, {floats(v)}, {full({}, first, i64), full({}, first, i64), full({}, NAN)});
  }
}

TEST(KnownCases, C13NegationFlipsTheSign) {
  const TensorFunction f = [](Tensors in) { return Tensors{-in[0], 1 / -in[0]}; };
  for (const Dtype t : {f16, bf16, f32, f64})
    for (const std::int64_t n : {1, 18})
      expect_forms(f, {zeros({n}, t)}, {full({n}, -0.0, t), full({n}, -INFINITY, t)});
}

TEST(KnownCases, C14VarianceDivisor) {
  const TensorFunction f = [](Tensors in) {
    const auto [v, m] = var_mean(in[0], 0, 4.9);
    return Tensors{v, m};
  };
  expect_forms(f, {floats({2})}, {full({}, NAN), full({}, 2.0)});
  const TensorFunction g = [](Tensors in) { return Tensors{var(in[0], 0, 4)}; };
  expect_forms(g, {arange(9).to(f32).reshape({3, 3})}, {full({3}, INFINITY)});
}

TEST(KnownCases, C15ScansOverTheMiddleAxis) {
  const TensorFunction f = [](Tensors in) { return Tensors{cumsum(in[0] + in[1], 1)}; };
  for (const std::int64_t n : {1, 2, 127, 128, 129}) {
    const Tensor rows = arange(1, n + 1).to(f32).reshape({1, n, 1}).expand({1, n, 64});
    expect_forms(f, {ones({1, n, 64}), zeros({64})}, {contiguous(rows)});
  }
}

TEST(KnownCases, C17PooledLayout) {
  const TensorFunction f = [](Tensors in) {
    const Tensor pooled = mean(unflatten(unflatten(in[0], 3, {7, 2}), 2, {7, 2}), {3, 5});
    return Tensors{sum(pooled, {1, 2, 3})};
  };
  const Tensor x = arange(1, 4).to(f32).reshape({3, 1, 1, 1}).expand({3, 65, 14, 14});
  const Tensor expected = floats({3185, 6370, 9555});
  expect_forms(f, {contiguous(x)}, {expected});
  expect_forms(f, {contiguous(x.permute({0, 2, 3, 1})).permute({0, 3, 1, 2})}, {expected});
}

TEST(KnownCases, C18OutputsDoNotDependOnEachOther) {
  const auto m = [](const Tensors& in) { return (in[1] / sin(in[0])) * cos(in[2]); };
  const TensorFunction alone = [m](Tensors in) {
    const Tensor v = m(in);
    return Tensors{argmax(v - v, 3), sum(ne(v - v, 0))};
  };
  const TensorFunction beside = [m](Tensors in) {
    const Tensor v = m(in);
    return Tensors{argmax(v - v, 3), sum(ne(v - v, 0)), v};
  };
  const Tensors in{randn({1, 3, 2, 19}, 1), randn({1, 1, 1, 19}, 2), randn({3, 2, 1}, 3)};
  const Tensors expected{zeros({1, 3, 2}, i64), full({}, 0, i64)};
  expect_forms(alone, in, expected);
  for (FormResult& r : run_forms(beside, in)) {
    EXPECT_EQ(r.outputs[0].to_vector<std::int64_t>(), std::vector<std::int64_t>(6, 0)) << r.form;
    EXPECT_EQ(r.outputs[1].item<std::int64_t>(), 0) << r.form;
  }

  const TensorFunction ratio = [](Tensors in) {
    const Tensor d = in[0] / in[0];
    return Tensors{argmin(d, 0), cat({d})};
  };
  const TensorFunction swapped = [](Tensors in) {
    const Tensor d = in[0] / in[0];
    return Tensors{cat({d}), argmin(d, 0)};
  };
  const Tensor x = randn({5, 18}, 4);
  expect_forms(ratio, {x}, {zeros({18}, i64), ones({5, 18})});
  expect_forms(swapped, {x}, {ones({5, 18}), zeros({18}, i64)});
}

TEST(KnownCases, C19FlipOfRankZero) {
  const TensorFunction f = [](Tensors in) { return Tensors{flip(in[0], 0)}; };
  expect_forms(f, {full({}, 3.14)}, {full({}, 3.14)});
  const Tensor x = full({}, 3.14), y = flip(x, 0);
  EXPECT_NE(x.data_ptr(), y.data_ptr());
  EXPECT_NE(x.data_ptr(), compile([](Tensor t) { return flip(t, 0); })(x).data_ptr());
}

TEST(KnownCases, C20ArgReductionOfNoRows) {
  const TensorFunction f = [](Tensors in) { return Tensors{argmin(in[0], 1, true).expand({0, 3}).reshape({0, 3})}; };
  expect_forms(f, {zeros({0, 3})}, {zeros({0, 3}, i64)});
}

TEST(KnownCases, C21WriteThroughReversedView) {
  const TensorFunction f = [](Tensors in) {
    Tensor target = in[1].index({Slice(None, None, -1)});
    target.copy_(target + in[0].index({Slice(None, None, -1)}) * 2);
    return Tensors{in[1]};
  };
  const Tensor expected = floats({0, 2, 4, 6, 8, 10});
  for (const FormResult& r : run_forms(f, {arange(6, f32), zeros({6})})) {
    EXPECT_EQ(r.outputs[0].to_vector<float>(), expected.to_vector<float>()) << r.form;
    EXPECT_EQ(r.inputs[1].to_vector<float>(), expected.to_vector<float>()) << r.form;
  }
}

}  // namespace
}  // namespace stax::optest
