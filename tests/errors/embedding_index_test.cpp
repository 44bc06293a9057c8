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

// No address depends on which row it is.
TEST(EmbeddingIndex, OfATableWhoseRowsAreTheSame) {
  const auto message = [](const Tensor& t, auto body) {
    const auto f = compile(body);
    f(t, indices(0) * 0);
    return message_of([&] { f(t, indices(0) * 7); });
  };
  const auto plain = [](Tensor w, Tensor i) { return embedding(w, i) + 1; };
  const auto row = [](Tensor w, Tensor i) { return sum(embedding(w, i), -1); };
  const auto made = [](Tensor w, Tensor i) { return softmax(embedding(w * 0 + ones(w.shape()), i), -1); };
  EXPECT_EQ(message(randn({1, 4}, 1), plain), "embedding: index 7 is out of range [0, 1)" + at(-3));
  EXPECT_EQ(message(randn({1, 4}, 1), row), "embedding: index 7 is out of range [0, 1)" + at(-3));
  EXPECT_EQ(message(randn({1, 4}, 1).expand({3, 4}), row), "embedding: index 7 is out of range [0, 3)" + at(-4));
  EXPECT_EQ(message(randn({1, 4}, 1).expand({3, 4}), made), "embedding: index 7 is out of range [0, 3)" + at(-4));
  const auto constant = [](Tensor w, Tensor i) { return embedding(zeros(w.shape()), i) * 2; };
  EXPECT_EQ(message(randn({6, 4}, 1), constant), "embedding: index 7 is out of range [0, 6)" + at(-1));
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
