#include "message.h"

namespace stax::test {
namespace {

const Tensor a = zeros({3, 4});

TEST(DtypeErrors, EmbeddingIndices) {
  EXPECT_EQ(message_of([] { embedding(a, zeros({2})); }),
            "embedding: the indices are f32, not integers" + at() + ". Cast with .to(stax::i64)");
}

TEST(DtypeErrors, LayerNormOfIntegers) {
  EXPECT_EQ(message_of([] { layer_norm(a.to(i32), {4}); }),
            "layer_norm: takes floats, not i32" + at() + ". Cast with .to(f32)");
}

TEST(DtypeErrors, DifferenceOfBooleans) {
  EXPECT_EQ(message_of([] { (void)(a.to(boolean) - a.to(boolean)); }),
            "sub: is not defined for booleans" + at() + ". Cast to a number with .to(dtype)");
}

TEST(DtypeErrors, ReadingAsAnotherType) {
  EXPECT_EQ(message_of([] { (void)a.to_vector<double>(); }),
            "to_vector: the tensor is f32, not f64" + at() + ". Cast first: .to(stax::f64)");
}

TEST(DtypeErrors, DeviceOfAnArgument) {
  const auto f = compile([](Tensor x) { return x + 1; }, {.device = "cuda"});
  EXPECT_EQ(message_of([&] { f(a); }),
            "tensor argument 0 is on cpu, the compiled function takes cuda. Move it with .to(device)");
}

TEST(DtypeErrors, UnknownDevice) {
  EXPECT_EQ(message_of([] { compile([](Tensor x) { return x + 1; }, {.device = "tpu"})(a); }),
            "unknown device 'tpu'. Valid devices: cpu, cuda, cuda:N, null");
}

}  // namespace
}  // namespace stax::test
