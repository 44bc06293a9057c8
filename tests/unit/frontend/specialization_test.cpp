// Which calls share an artifact.
#include <array>
#include <map>
#include <optional>

#include "helpers.h"

namespace stax {

TEST(Specialization, AutomaticMakesChangingSizesSymbols) {
  auto f = compile([](Tensor x) { return x * 2; }, {.dynamic = Dynamic::automatic});
  for (int n : {3, 5, 9, 11})
    EXPECT_EQ(floats(f(ones({n, 4}))), std::vector<float>(static_cast<std::size_t>(4 * n), 2.0f));
  EXPECT_EQ(f.stats().compiles, 2u);  // static, then dynamic in the first axis
}

TEST(Specialization, TheArtifactUsedLastIsAskedFirst) {
  auto f = compile([](Tensor x) { return x * 2; });
  const Tensor a = ones({3}), b = ones({5}), c = ones({7});
  f(a), f(b), f(c);
  EXPECT_EQ(f.stats().compiles, 3u);
  const auto misses_of = [&](const Tensor& x) {
    const std::uint64_t before = f.stats().guard_misses;
    EXPECT_EQ(floats(f(x)), std::vector<float>(floats(x).size(), 2.0f));
    return f.stats().guard_misses - before;
  };
  EXPECT_EQ(misses_of(c), 0u);
  for (const Tensor& x : {a, b, c, a}) {
    EXPECT_GE(misses_of(x), 1u);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(misses_of(x), 0u);
  }
  EXPECT_EQ(f.stats().compiles, 3u);
}

// All modes give the same artifacts today, and say so.
TEST(Specialization, ModesAreTheSame) {
  const auto function = [](Tensor x) { return sum(exp(x) + 1.25, -1); };
  const Tensor x = ones({4, 9});
  auto balanced = compile(function);
  const std::vector<float> expected = floats(balanced(x));
  EXPECT_EQ(balanced.explain(x).find("mode"), std::string::npos);
  for (const auto& [mode, name] :
       {std::pair(Mode::max_autotune, "max_autotune"), std::pair(Mode::reduce_overhead, "reduce_overhead")}) {
    auto f = compile(function, {.mode = mode});
    EXPECT_EQ(floats(f(x)), expected);
    EXPECT_EQ(f.stats().kernels_built, 0u);  // the one of the balanced function is taken
    EXPECT_EQ(f.artifacts()[0].kernels[0].source, balanced.artifacts()[0].kernels[0].source);
    EXPECT_EQ(f.explain(x).find(std::string("mode ") + name + ": the same as balanced"), 0u) << f.explain(x);
  }
}

TEST(Specialization, DtypeRankAndConstantsAreKeys) {
  auto f = compile([](Tensor x, int power) {
    Tensor y = x;
    for (int i = 1; i < power; ++i) y = y * x;
    return y;
  });
  EXPECT_EQ(floats(f(tensor({3.0f}), 2)), (std::vector<float>{9}));
  EXPECT_EQ(floats(f(tensor({3.0f}), 3)), (std::vector<float>{27}));
  EXPECT_EQ(ints(f(tensor({std::int64_t{3}}), 3)), (std::vector<std::int64_t>{27}));
  EXPECT_EQ(f.stats().compiles, 3u);
  f(tensor({4.0f}), 2);
  EXPECT_EQ(f.stats().compiles, 3u);
}

TEST(Specialization, ScalarsAreInputsUntilCompared) {
  auto f = compile([](Tensor x, Scalar s) { return s > 0 ? x * s : x - s; });
  EXPECT_EQ(floats(f(tensor({2.0f}), 3.0)), (std::vector<float>{6}));
  EXPECT_EQ(floats(f(tensor({2.0f}), 5.0)), (std::vector<float>{10}));
  EXPECT_EQ(f.stats().compiles, 1u);
  EXPECT_EQ(floats(f(tensor({2.0f}), -1.0)), (std::vector<float>{3}));
  EXPECT_EQ(f.stats().compiles, 2u);
  EXPECT_EQ(floats(f(tensor({2.0f}), 7.0)), (std::vector<float>{14}));
  EXPECT_EQ(f.stats().compiles, 2u);
}

TEST(Specialization, ASizeAsAScalarArgument) {
  auto f = compile([](Tensor x, Scalar s) { return s > 3 ? x * s : x; });
  const Tensor x = ones({4});
  EXPECT_EQ(floats(f(x, x.size(0))), (std::vector<float>{4, 4, 4, 4}));
  EXPECT_EQ(floats(f(x, Dim(5))), (std::vector<float>{5, 5, 5, 5}));
  EXPECT_EQ(f.stats().compiles, 1u);
  EXPECT_EQ(floats(f(x, Dim(2))), (std::vector<float>{1, 1, 1, 1}));
}

struct Item {
  Tensor t;
  std::string name;
};
struct Everything {
  std::map<std::string, Tensor> by_name;
  std::array<Tensor, 2> pair;
  std::optional<Tensor> maybe;
  std::vector<Item> items;
  bool flag;

  // g++ 12 cannot count the fields of an aggregate with a std::array.
  template <class Self>
  friend auto fields(Self& e) requires std::is_same_v<std::remove_const_t<Self>, Everything> {
    return std::tie(e.by_name, e.pair, e.maybe, e.items, e.flag);
  }
};

TEST(Specialization, ContainersAndStructs) {
  auto f = compile([](const Everything& e) {
    Tensor s = e.by_name.at("a") + e.pair[0] * e.pair[1];
    if (e.maybe) s = s + *e.maybe;
    for (const Item& i : e.items)
      if (i.name != "skip") s = s + i.t;
    return std::map<std::string, Tensor>{{"sum", s}, {"negative", e.flag ? -s : s}};
  });
  auto one = [](float v) { return tensor({v}); };
  Everything e{{{"a", one(1)}}, {one(2), one(3)}, one(10), {{one(100), "x"}, {one(1000), "skip"}}, true};
  EXPECT_EQ(floats(f(e)["sum"]), (std::vector<float>{117}));
  EXPECT_EQ(floats(f(e)["negative"]), (std::vector<float>{-117}));
  EXPECT_EQ(f.stats().compiles, 1u);
  e.maybe.reset();
  EXPECT_EQ(floats(f(e)["sum"]), (std::vector<float>{107}));
  e.items[1].name = "y";
  EXPECT_EQ(floats(f(e)["sum"]), (std::vector<float>{1107}));
  EXPECT_EQ(f.stats().compiles, 3u);
}

TEST(Specialization, WhyRecompiledNamesTheGuard) {
  auto f = compile([](Tensor x) { return x + 1; });
  f(zeros({4}));
  EXPECT_EQ(f.why_recompiled(), "no recompiles\n");
  f(zeros({5}));
  EXPECT_NE(f.why_recompiled().find("x0.size(0)"), std::string::npos) << f.why_recompiled();
  EXPECT_NE(f.why_recompiled().find("5"), std::string::npos) << f.why_recompiled();
}

TEST(Specialization, CompiledInsideCompiledIsOneGraph) {
  auto inner = compile([](Tensor x) { return relu(x) + 1; });
  auto outer = compile([&](Tensor x) { return inner(x) * 2; });
  EXPECT_EQ(floats(outer(tensor({-1.0f, 2.0f}))), (std::vector<float>{2, 6}));
  EXPECT_EQ(outer.artifacts()[0].kernels.size(), 1u);
  EXPECT_EQ(inner.stats().calls, 0u);
}

TEST(Specialization, ExplainShowsKernelsAndGuards) {
  auto f = compile([](Tensor x) { return softmax(x, -1); });
  const std::string text = f.explain(randn({4, 9}, 1));
  for (const char* word : {"guards", "kernel per_", "schedule cpu", "plan @fn", "x0.size(1)"})
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
}

}  // namespace stax
