// What leaves its trace is refused with a message.
#include "helpers.h"

namespace stax {

TEST(Escape, TracedTensorAndSize) {
  Tensor kept;
  Dim size;
  auto f = compile(
      [&](Tensor x) {
        kept = x + 1;
        size = x.size(0);
        return x * 2;
      },
      {.dynamic = Dynamic::yes});
  f(zeros({4}));
  EXPECT_NE(user_error([&] { kept + 1; }).find("a tensor of a traced function is used outside its trace"),
            std::string::npos);
  EXPECT_NE(user_error([&] { kept.item<float>(); }).find("outside its trace"), std::string::npos);
  EXPECT_NE(user_error([&] { (void)(size + 1).value(); }).find("a size of a traced function is used outside its trace"),
            std::string::npos);
}

TEST(Escape, UndefinedResultIsNamed) {
  auto f = compile([](Tensor) { return Tensor(); });
  EXPECT_EQ(user_error([&] { f(ones({2})); }), "the traced function returns an undefined tensor");
}

TEST(Escape, UndefinedTensorIsNamed) {
  EXPECT_NE(user_error([] { Tensor() + 1; }).find("add: argument 0 ('a') is an undefined tensor"), std::string::npos);
  EXPECT_NE(user_error([] {
              matmul(zeros({2, 2}), Tensor());
            }).find("matmul: argument 1 ('b') is an undefined tensor"),
            std::string::npos);
}

}  // namespace stax
