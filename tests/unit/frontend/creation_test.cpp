#include <cmath>

#include "helpers.h"

namespace stax {

TEST(Creation, RangesAndIdentity) {
  EXPECT_EQ(ints(arange(2, 11, 3)), (std::vector<std::int64_t>{2, 5, 8}));
  EXPECT_EQ(ints(arange(5, 0, -2)), (std::vector<std::int64_t>{5, 3, 1}));
  EXPECT_EQ(floats(linspace(0, 1, 5)), (std::vector<float>{0, 0.25f, 0.5f, 0.75f, 1}));
  EXPECT_EQ(floats(eye(2)), (std::vector<float>{1, 0, 0, 1}));
  EXPECT_EQ(to_string(tensor({1.5f, 2.0f})), "f32[2] [1.5, 2]");
  EXPECT_EQ(to_string(arange(4).reshape({2, 2})), "i64[2, 2] [[0, 1], [2, 3]]");
}

TEST(Creation, RandomIsAFunctionOfSeedAndElement) {
  EXPECT_EQ(floats(randn({3, 5}, 7)), floats(randn({15}, 7)));
  EXPECT_NE(floats(randn({15}, 8)), floats(randn({15}, 7)));
  auto f = compile([](Scalar seed) { return randn({100}, seed); });
  EXPECT_EQ(floats(f(7)), floats(randn({100}, 7)));
  EXPECT_EQ(floats(f(9)), floats(randn({100}, 9)));
  EXPECT_EQ(f.stats().compiles, 1u);
  for (std::int64_t v : ints(randint(-3, 4, {1000}, 5))) EXPECT_TRUE(v >= -3 && v < 4);
}

TEST(Creation, FromMemory) {
  EXPECT_NE(user_error([] {
              from_vector(std::vector<float>{1, 2, 3}, {2, 2});
            }).find("3 values for shape [2, 2] of 4 elements"),
            std::string::npos);
  float data[4] = {1, 2, 3, 4};
  Tensor t = from_blob(data, {2, 2}, f32);
  data[0] = 9;
  EXPECT_EQ(floats(t), (std::vector<float>{9, 2, 3, 4}));
  DLManagedTensor* managed = to_dlpack(t);
  Tensor again = tensor_from_dlpack(managed);
  EXPECT_EQ(again.data_ptr(), t.data_ptr());
}

TEST(Creation, InsideATracedFunction) {
  auto f =
      compile([](Tensor x) { return x + arange(x.size(0), f32) + full({x.size(0)}, 2.0f); }, {.dynamic = Dynamic::yes});
  EXPECT_EQ(floats(f(zeros({3}))), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(floats(f(zeros({5}))), (std::vector<float>{2, 3, 4, 5, 6}));
  EXPECT_EQ(f.stats().compiles, 1u);
}

TEST(Creation, ABlobAtNoAddress) {
  EXPECT_EQ(user_error([] { (void)from_blob(nullptr, {4}, f32); }), "from_blob: the address of 4 elements is null");
  EXPECT_EQ(floats(from_blob(nullptr, {0}, f32)).size(), 0u);
}

}  // namespace stax
