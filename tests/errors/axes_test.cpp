#include "message.h"

namespace stax::test {
namespace {

const Tensor a = zeros({3, 4});

TEST(AxisErrors, OutOfRange) {
  EXPECT_EQ(message_of([] { sum(a, 2); }),
            "sum: axis 2 is out of range for rank 2" + at() + ". Use an axis in [-2, 2)");
  EXPECT_EQ(message_of([] { sum(a, -3); }),
            "sum: axis -3 is out of range for rank 2" + at() + ". Use an axis in [-2, 2)");
  EXPECT_EQ(message_of([] { softmax(a, 5); }),
            "softmax: axis 5 is out of range for rank 2" + at() + ". Use an axis in [-2, 2)");
  EXPECT_EQ(message_of([] { a.transpose(0, 4); }),
            "transpose: axis 4 is out of range for rank 2" + at() + ". Use an axis in [-2, 2)");
}

TEST(AxisErrors, OfASize) {
  EXPECT_EQ(message_of([] { (void)a.size(3); }),
            "size: axis 3 is out of range for rank 2" + at() + ". Use an axis in [-2, 2)");
  const Tensor scalar = zeros({});
  EXPECT_EQ(message_of([&] { (void)scalar.size(0); }),
            "size: axis 0 is out of range for rank 0" + at() + ". A rank-0 tensor has no axes");
}

TEST(AxisErrors, GivenTwice) {
  EXPECT_EQ(message_of([] { sum(a, {0, 0}); }), "sum: axis 0 is given twice" + at() + ". Name every axis once");
  EXPECT_EQ(message_of([] { a.permute({0, 0}); }), "permute: axis 0 is given twice" + at() + ". Name every axis once");
}

TEST(AxisErrors, IndexOutOfRange) {
  EXPECT_EQ(message_of([] { a.select(0, 3); }),
            "select: index 3 is out of range for axis 0 of size 3" + at() + ". Use an index from -size to size - 1");
}

TEST(AxisErrors, TooManyIndices) {
  EXPECT_EQ(message_of([] { a.index({0, 0, 0}); }), "index: 3 indices for a tensor of rank 2" + at());
}

}  // namespace
}  // namespace stax::test
