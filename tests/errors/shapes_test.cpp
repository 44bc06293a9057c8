// Shapes that do not fit: the operator, both shapes, the sizes that clash, the user's line, the rule.
#include "message.h"

namespace stax::test {
namespace {

const Tensor a = zeros({3, 4}), b = zeros({5, 4});

TEST(ShapeErrors, Broadcast) {
  EXPECT_EQ(message_of([] { (void)(a + b); }),
            "add: shapes [3, 4] and [5, 4] do not broadcast: 3 against 5 at axis -2" + at() +
                ". Sizes must be equal, or one of them 1");
}

TEST(ShapeErrors, InACompiledFunctionAtItsOwnLine) {
  const auto f = compile([](Tensor x, Tensor y) {
    const Tensor half = x * 0.5f;
    return half + y;
  });
  const std::string place = at(-2);
  EXPECT_EQ(message_of([&] { f(a, b); }), "add: shapes [3, 4] and [5, 4] do not broadcast: 3 against 5 at axis -2" +
                                              place + ". Sizes must be equal, or one of them 1");
}

TEST(ShapeErrors, SymbolicSizesShowTheirValues) {
  const auto f = compile([](Tensor x, Tensor y) { return x + y; }, {.dynamic = Dynamic::yes});
  const std::string place = at(-1);
  EXPECT_EQ(
      message_of([&] { f(a, b); }),
      "add: shapes [s0 (=3), s1 (=4)] and [s2 (=5), s1 (=4)] do not broadcast: s0 (=3) against s2 (=5) at axis -2" +
          place + ". Sizes must be equal, or one of them 1");
}

TEST(ShapeErrors, Copy) {
  Tensor target = zeros({3, 4});
  const std::string problem =
      "copy_: a source of shape [5, 4] does not fit a target of shape [3, 4]: 5 against 3 at axis -2";
  const std::string remedy = ". Sizes must be equal, or 1 in the source";
  EXPECT_EQ(message_of([&] { target.copy_(b); }), problem + at() + remedy);
  EXPECT_EQ(message_of([&] {
              target.copy_(zeros({1, 3, 4}));
            }),
            "copy_: a source of shape [1, 3, 4] does not fit a target of shape [3, 4]: it has 3 axes, the target 2" +
                at() + remedy);
  const auto f = compile([](Tensor x, Tensor y) {
    x.copy_(y);
    return x;
  });
  const std::string place = at(-3);
  EXPECT_EQ(message_of([&] { f(target, b); }), problem + place + remedy);
  const auto dynamic = compile([](Tensor x, Tensor y) { return x.copy_(y); }, {.dynamic = Dynamic::yes});
  const std::string line = at(-1);
  EXPECT_EQ(message_of([&] { dynamic(target, b); }),
            "copy_: a source of shape [s2 (=5), s1 (=4)] does not fit a target of shape [s0 (=3), s1 (=4)]: s2 (=5) "
            "against s0 (=3) at axis -2" +
                line + remedy);
}

TEST(ShapeErrors, SizesThatLeave64Bits) {
  const std::string remedy = ". Use smaller sizes or constants";
  EXPECT_EQ(message_of([] {
              (void)zeros({std::int64_t{1} << 40, std::int64_t{1} << 40});
            }),
            "full: integer overflow: 1099511627776 * 1099511627776 leaves 64 bits" + at() + remedy);
  const auto f = compile([](Tensor x) { return x.repeat({std::int64_t{1} << 62}); });
  const std::string place = at(-1);
  EXPECT_EQ(message_of([&] { f(a.select(0, 0)); }),
            "repeat: integer overflow: 4 * 4611686018427387904 leaves 64 bits" + place + remedy);
}

TEST(ShapeErrors, Matmul) {
  EXPECT_EQ(message_of([] {
              matmul(a, zeros({5, 6}));
            }),
            "matmul: shapes [3, 4] and [5, 6] do not fit: inner sizes 4 and 5" + at() +
                ". The last size of the left operand must equal the last but one of the right");
}

TEST(ShapeErrors, Linear) {
  EXPECT_EQ(message_of([] {
              linear(a, zeros({5, 6}));
            }),
            "linear: x of shape [3, 4] does not fit weight of shape [5, 6]" + at() + ". The last sizes must be equal");
}

TEST(ShapeErrors, Cat) {
  EXPECT_EQ(message_of([] {
              cat({a, zeros({3, 5})}, 0);
            }),
            "cat: shapes [3, 4] and [3, 5] differ at axis 1" + at() + ". Sizes may differ along the joined axis alone");
  EXPECT_EQ(message_of([] {
              cat({a, zeros({3, 5, 1})}, 0);
            }),
            "cat: tensor 1 has rank 3, the first has rank 2" + at() + ". The ranks must be equal");
}

TEST(ShapeErrors, Stack) {
  EXPECT_EQ(message_of([] {
              stack({a, b}, 0);
            }),
            "stack: shapes [3, 4] and [5, 4] differ" + at() + ". Stacked tensors need equal shapes");
}

TEST(ShapeErrors, Reshape) {
  EXPECT_EQ(message_of([] {
              a.reshape({5, 3});
            }),
            "reshape: shape [3, 4] has 12 elements, [5, 3] has 15" + at(0) + ". The element counts must be equal");
  EXPECT_EQ(message_of([] {
              a.reshape({5, -1});
            }),
            "reshape: shape [3, 4] has 12 elements, which 5 do not divide for the -1 of [5, -1]" + at());
}

TEST(ShapeErrors, Expand) {
  EXPECT_EQ(
      message_of([] {
        a.expand({3, 5});
      }),
      "expand: cannot expand shape [3, 4] to [3, 5]: axis 1 has size 4, not 1" + at() + ". Only axes of size 1 expand");
}

TEST(ShapeErrors, LayerNorm) {
  EXPECT_EQ(message_of([] { layer_norm(a, {5}); }), "layer_norm: normalized_shape [5] is not the end of shape [3, 4]" +
                                                        at() + ". Give the sizes of the last axes");
}

TEST(ShapeErrors, EmptyMaximum) {
  EXPECT_EQ(message_of([] { amax(zeros({0}), 0); }), "amax: the reduced axes are empty and have no identity" + at() +
                                                         ". Check the size before, or reduce over another axis");
}

TEST(ShapeErrors, ValuesForAShape) {
  EXPECT_EQ(message_of([] {
              from_vector(std::vector<float>{1, 2}, {3});
            }),
            "from_vector: 2 values for shape [3] of 3 elements" + at() + ". The element counts must be equal");
}

}  // namespace
}  // namespace stax::test
