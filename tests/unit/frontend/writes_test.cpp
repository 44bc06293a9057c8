// In-place writes inside compiled functions.
#include "helpers.h"

namespace stax {

TEST(Writes, InputIsWrittenAfterEverythingWasRead) {
  auto f = compile([](Tensor x) {
    Tensor before = x + 0;
    x.copy_(x * 2);
    return before + x;
  });
  Tensor x = tensor({1.0f, 2.0f, 3.0f});
  EXPECT_EQ(floats(f(x)), (std::vector<float>{3, 6, 9}));
  EXPECT_EQ(floats(x), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(f.stats().fallbacks, 0u);
}

TEST(Writes, ThroughAReversedView) {
  // b[::-1] <- b[::-1] + 2 x[::-1]
  auto f = compile([](Tensor x, Tensor b) {
    Tensor r = b.index({Slice(None, None, -1)});
    r.copy_(r + x.index({Slice(None, None, -1)}) * 2);
    return b + 0;
  });
  Tensor b = zeros({6});
  EXPECT_EQ(floats(f(arange(6, f32), b)), (std::vector<float>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(floats(b), (std::vector<float>{0, 2, 4, 6, 8, 10}));
}

TEST(Writes, OtherViewsSeeThem) {
  auto f = compile([](Tensor x) {
    Tensor row = x.select(0, 1), column = x.select(1, 0);
    row.fill_(7);
    return column + 0;
  });
  Tensor x = arange(6, f32).reshape({2, 3});
  EXPECT_EQ(floats(f(x)), (std::vector<float>{0, 7}));
  EXPECT_EQ(floats(x), (std::vector<float>{0, 1, 2, 7, 7, 7}));
}

TEST(Writes, TheWrittenInputItselfIsReturned) {
  auto f = compile([](Tensor x) {
    x.fill_(5);
    return x;
  });
  Tensor x = zeros({4});
  Tensor y = f(x);
  EXPECT_EQ(y.data_ptr(), x.data_ptr());
  x.fill_(1);
  EXPECT_EQ(floats(y), (std::vector<float>{1, 1, 1, 1}));
}

// Taken before or after the write, a view of a written input is a view of its memory.
TEST(Writes, ViewsOfTheWrittenInputAreReturned) {
  for (const Dynamic dynamic : {Dynamic::no, Dynamic::yes}) {
    auto f = compile(
        [](Tensor x) {
          Tensor before = x.select(0, 1);
          x.copy_(x + 1);
          return std::vector{before, x.t(), x.index({Slice(None, None, -1)}), x.reshape({-1})};
        },
        {.dynamic = dynamic});
    Tensor x = arange(6, f32).reshape({2, 3});
    std::vector<Tensor> y = f(x);
    EXPECT_EQ(f.stats().fallbacks, 0u);
    EXPECT_EQ(floats(y[0]), (std::vector<float>{4, 5, 6}));
    x.fill_(7);
    for (const Tensor& t : y) EXPECT_EQ(floats(t), std::vector<float>(floats(t).size(), 7.0f));
    y[1].fill_(8);
    EXPECT_EQ(floats(x), std::vector<float>(6, 8.0f));
  }
}

// What the input's own strides do not allow as a view is a copy, as in eager calls.
TEST(Writes, AReshapeOfAWrittenColumnMajorInputIsACopy) {
  auto f = compile([](Tensor x) {
    x.fill_(3);
    return x.reshape({-1});
  });
  Tensor x = arange(6, f32).reshape({3, 2}).t();
  const Tensor y = f(x);
  EXPECT_EQ(floats(y), std::vector<float>(6, 3.0f));
  x.fill_(1);
  EXPECT_EQ(floats(y), std::vector<float>(6, 3.0f));
}

TEST(Writes, TheSourceOfACopyIsNotTheTarget) {
  auto f = compile([](Tensor x) {
    Tensor y = x + 1;
    x.copy_(y);
    return y;
  });
  Tensor x = zeros({4});
  Tensor y = f(x);
  EXPECT_NE(y.data_ptr(), x.data_ptr());
  EXPECT_EQ(floats(x), floats(y));
}

TEST(Writes, ACapturedTensorIsWritten) {
  Tensor state = zeros({3});
  auto f = compile([&](Tensor x) {
    state.copy_(state + x);
    return state * 10;
  });
  EXPECT_EQ(floats(f(ones({3}))), (std::vector<float>{10, 10, 10}));
  EXPECT_EQ(floats(f(ones({3}))), (std::vector<float>{20, 20, 20}));
  EXPECT_EQ(floats(state), (std::vector<float>{2, 2, 2}));
}

TEST(Writes, InputsThatShareMemoryRunUncompiled) {
  auto f = compile([](Tensor a, Tensor b) {
    a.copy_(b + 1);
    return b + 0;
  });
  Tensor x = zeros({4}), y = zeros({4});
  EXPECT_EQ(floats(f(x, y)), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(f.stats().fallbacks, 0u);
  // The write to `a` is seen through `b`.
  EXPECT_EQ(floats(f(x, x)), (std::vector<float>{2, 2, 2, 2}));
  EXPECT_EQ(f.stats().fallbacks, 1u);
  auto strict = compile(
      [](Tensor a, Tensor b) {
        a.copy_(b + 1);
        return b + 0;
      },
      {.fullgraph = true});
  EXPECT_NE(user_error([&] { strict(x, x); }).find("shares memory"), std::string::npos);
}

// In the same words where it is traced.
TEST(Writes, RepeatedElementsAreRefused) {
  const Tensor one = zeros({1, 3});
  auto fill = [](Tensor t) {
    t = t.expand({4, 3});
    t.fill_(1);
    return t + 0;
  };
  auto copy = [](Tensor t) {
    t = t.expand({4, 3});
    t.copy_(ones({4, 3}));
    return t + 0;
  };
  const std::pair<std::string, std::function<Tensor(Tensor)>> cases[] = {{"fill_", fill}, {"copy_", copy}};
  for (const auto& one_case : cases) {
    const std::string what = one_case.first;
    const auto f = one_case.second;
    const std::string expected = what + ": the target of a write repeats elements (stride 0)";
    EXPECT_EQ(user_error([&] { f(one); }).find(expected), 0u) << user_error([&] { f(one); });
    const auto compiled = compile(f);
    EXPECT_NE(user_error([&] { compiled(one); }).find(expected), std::string::npos)
        << user_error([&] { compiled(one); });
  }
}

}  // namespace stax
