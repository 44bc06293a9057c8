// An index out of range in compiled code: the index, the bound, the user's line; nothing is read out of bounds.
#include "message.h"

namespace stax::test {
namespace {

const Tensor table = randn({10, 4}, 1);

Tensor indices(std::int64_t second) { return from_vector(std::vector<std::int64_t>{1, second}, {2}); }

TEST(EmbeddingIndex, Compiled) {
  const auto f = compile([](Tensor w, Tensor i) {
    const Tensor rows = embedding(w, i);
    return rows * 2;
  });
  const std::string place = at(-3);
  EXPECT_EQ(message_of([&] { f(table, indices(10)); }), "embedding: index 10 is out of range [0, 10)" + place);
  EXPECT_EQ(message_of([&] { f(table, indices(-11)); }), "embedding: index -11 is out of range [0, 10)" + place);
  EXPECT_EQ(f(table, indices(9)).shape(), (Shape{2, 4})) << "the function goes on working";
}

TEST(EmbeddingIndex, WithSymbolicSizes) {
  const auto f = compile([](Tensor w, Tensor i) { return embedding(w, i) + 1; }, {.dynamic = Dynamic::yes});
  const std::string place = at(-1);
  f(table, indices(3));
  EXPECT_EQ(message_of([&] { f(randn({7, 4}, 1), indices(8)); }), "embedding: index 8 is out of range [0, 7)" + place);
}

// The compiled operator is shared by all lines that use it.
TEST(EmbeddingIndex, LargeOnesOutsideHaveTheirOwnLine) {
  const Tensor large = randn({1 << 15, 4}, 1);
  EXPECT_EQ(embedding(large, indices(9)).shape(), (Shape{2, 4}));
  EXPECT_EQ(message_of([&] { embedding(large, indices(1 << 15)); }),
            "embedding: index 32768 is out of range [0, 32768)" + at());
  EXPECT_EQ(message_of([&] { embedding(large, indices(-1 << 16)); }),
            "embedding: index -65536 is out of range [0, 32768)" + at());
}

TEST(EmbeddingIndex, Eager) {
  EXPECT_EQ(message_of([] { embedding(table, indices(10)); }), "embedding: index 10 is out of range [0, 10)" + at());
}

}  // namespace
}  // namespace stax::test
