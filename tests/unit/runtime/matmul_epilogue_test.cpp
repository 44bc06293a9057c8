#include <stax/base/error.h>

#include <limits>

#include "matmul_helpers.h"

namespace stax::runtime::test {
namespace {

Array row_bias(std::vector<std::int64_t> sizes, Dtype dtype, std::mt19937& rng) {
  const std::int64_t n = sizes.back();
  Dims strides(sizes.size(), 0);
  strides.back() = 1;
  return random_array({n}, dtype, rng).with_layout(Layout{Dims(sizes.begin(), sizes.end()), strides, 0});
}

TEST(MatmulEpilogue, EveryActivationWithBiasScaleAndResidual) {
  std::mt19937 rng(1);
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::f64})
    for (int f = 0; f < kActivationCount; ++f)
      for (int form = 0; form < 8; ++form) {
        Product p{random_array({9, 20}, dtype, rng), random_array({20, 24}, dtype, rng),
                  random_array({9, 24}, dtype, rng)};
        p.activation = static_cast<Activation>(f);
        if (form & 1) p.bias = row_bias({9, 24}, dtype, rng);
        if (form & 2) p.residual = random_array({9, 24}, dtype, rng);
        if (form & 4) p.scale = 0.125;
        SCOPED_TRACE(std::string(to_text(dtype)) + " " + std::string(to_text(p.activation)) + " " +
                     std::to_string(form));
        check(p);
      }
}

TEST(MatmulEpilogue, ActivationNamesReadBack) {
  for (int f = 0; f < kActivationCount; ++f)
    EXPECT_EQ(parse_activation(to_text(static_cast<Activation>(f))), static_cast<Activation>(f));
  EXPECT_FALSE(parse_activation("softsign"));
}

TEST(MatmulEpilogue, NanAndInfinityPassEveryActivation) {
  std::mt19937 rng(2);
  for (int f = 0; f < kActivationCount; ++f) {
    Product p{random_array({3, 8}, Dtype::f32, rng), random_array({8, 20}, Dtype::f32, rng),
              random_array({3, 20}, Dtype::f32, rng)};
    p.activation = static_cast<Activation>(f);
    p.a.data_as<float>()[8] = std::numeric_limits<float>::quiet_NaN();
    SCOPED_TRACE(std::string(to_text(p.activation)));
    p.run();
    for (std::int64_t j = 0; j < 20; ++j) {
      const std::int64_t index[] = {1, j};
      EXPECT_TRUE(std::isnan(read_f64(p.out, index))) << j << ": " << read_f64(p.out, index);
    }
  }
}

TEST(MatmulEpilogue, LargeArgumentsOfActivations) {
  for (int f = 0; f < kActivationCount; ++f) {
    Product p{Array::empty({1, 1}, Dtype::f32), Array::empty({1, 40}, Dtype::f32), Array::empty({1, 40}, Dtype::f32)};
    p.a.data_as<float>()[0] = 1;
    for (int j = 0; j < 40; ++j) p.b.data_as<float>()[j] = (static_cast<float>(j) - 20) * 6.f;
    p.activation = static_cast<Activation>(f);
    SCOPED_TRACE(std::string(to_text(p.activation)));
    check(p);
  }
}

TEST(MatmulEpilogue, IntegersTakeBiasOnly) {
  std::mt19937 rng(3);
  Product p{random_array({3, 8}, Dtype::i32, rng), random_array({8, 5}, Dtype::i32, rng),
            random_array({3, 5}, Dtype::i32, rng)};
  p.bias = random_array({3, 5}, Dtype::i32, rng);
  check(p);
  p.activation = Activation::relu;
  EXPECT_THROW(p.run(), UserError);
}

TEST(MatmulEpilogue, IntegersWrapAtTheirWidth) {
  Product p{Array::empty({1, 2}, Dtype::i8), Array::empty({2, 1}, Dtype::i8), Array::empty({1, 1}, Dtype::i8)};
  for (int i = 0; i < 2; ++i) p.a.data_as<std::int8_t>()[i] = p.b.data_as<std::int8_t>()[i] = 100;
  p.run();
  EXPECT_EQ(p.out.data_as<std::int8_t>()[0], static_cast<std::int8_t>(20000));
}

}  // namespace
}  // namespace stax::runtime::test
