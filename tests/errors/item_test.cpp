// A value of a tensor that is read while the function is traced.
#include "message.h"

namespace stax::test {
namespace {

TEST(ItemErrors, UnderFullgraph) {
  const auto f = compile([](Tensor x) { return x.item<float>() > 0 ? x + 1 : x - 1; }, {.fullgraph = true});
  const std::string place = at(-1);
  EXPECT_EQ(message_of([&] { f(full({}, 1.0f)); }),
            "item: the value of a tensor is read while the function is traced" + place +
                ". Use where(condition, a, b) instead of a branch on data, or leave out fullgraph");
}

TEST(ItemErrors, OtherwiseTheFunctionRunsUncompiledAndSaysSo) {
  const auto f = compile([](Tensor x) { return x.item<float>() > 0 ? x + 1 : x - 1; });
  const std::string place = at(-1);
  EXPECT_EQ(f(full({}, 1.0f)).item<float>(), 2.0f);
  EXPECT_EQ(f(full({}, -1.0f)).item<float>(), -2.0f);
  EXPECT_EQ(f.stats().fallbacks, 2U);
  EXPECT_EQ(f.explain(full({}, 1.0f)),
            "runs uncompiled: item: the value of a tensor is read while the function is traced" + place + "\n");
}

TEST(ItemErrors, MoreThanOneElement) {
  const Tensor t = zeros({3, 4});
  const std::string message = message_of([&] { (void)t.item<float>(); });
  EXPECT_EQ(message, "item: the tensor has 12 elements, not 1" + at(-1) + ". Use to_vector, or index the element");
}

}  // namespace
}  // namespace stax::test
