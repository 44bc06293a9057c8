// Traced tensors and sizes that leave their trace.
#include <optional>

#include "message.h"

namespace stax::test {
namespace {

class Escape : public testing::Test {
 protected:
  void SetUp() override {
    const auto leak = compile(
        [this](Tensor x) {
          tensor_ = x + 1;
          size_ = x.size(0);
          return x * 2;
        },
        {.dynamic = Dynamic::yes});
    leak(ones({5}));
  }
  std::optional<Tensor> tensor_;
  std::optional<Dim> size_;
  const std::string tensor_problem_ = "a tensor of a traced function is used outside its trace";
  const std::string size_problem_ = "a size of a traced function is used outside its trace";
  const std::string remedy_ = ". Return it from the function instead of storing it";
};

TEST_F(Escape, TensorAsAnOperand) {
  EXPECT_EQ(message_of([this] { (void)(*tensor_ + 1); }), tensor_problem_ + at() + remedy_);
}

TEST_F(Escape, TensorThatIsRead) {
  EXPECT_EQ(message_of([this] { (void)tensor_->to_vector<float>(); }), tensor_problem_ + at() + remedy_);
}

TEST_F(Escape, TensorInAnotherTrace) {
  const auto f = compile([this](Tensor x) { return x + *tensor_; });
  const std::string place = at(-1);
  EXPECT_EQ(message_of([&] { f(ones({5})); }), tensor_problem_ + place + remedy_);
}

TEST_F(Escape, SizeThatIsReadOrCompared) {
  EXPECT_EQ(message_of([this] { (void)size_->value(); }), size_problem_ + at() + remedy_);
  EXPECT_EQ(message_of([this] { (void)(*size_ > 3); }), size_problem_ + at() + remedy_);
}

TEST_F(Escape, SizeOfANewTensor) {
  EXPECT_EQ(message_of([this] { (void)zeros({*size_}); }), size_problem_ + at() + remedy_);
  EXPECT_EQ(message_of([this] { (void)arange(*size_); }), size_problem_ + at() + remedy_);
}

TEST_F(Escape, SizeAsAnArgumentOfAnOperator) {
  const Tensor x = ones({5});
  EXPECT_EQ(message_of([&] { (void)x.reshape({*size_}); }), size_problem_ + at() + remedy_);
  EXPECT_EQ(message_of([&] { (void)x.index({Slice(0, *size_)}); }), size_problem_ + at() + remedy_);
  EXPECT_EQ(message_of([&] { (void)(x * Scalar(*size_)); }), size_problem_ + at() + remedy_);
}

TEST_F(Escape, SizeInAnotherTrace) {
  const auto f = compile([this](Tensor x) { return x + zeros({*size_}); });
  const std::string place = at(-1);
  EXPECT_EQ(message_of([&] { f(ones({5})); }), size_problem_ + place + remedy_);
}

TEST_F(Escape, SizeAsAnArgumentOfACompiledFunction) {
  const auto f = compile([](Tensor x, Scalar s) { return x * s; });
  EXPECT_EQ(message_of([&] { (void)f(ones({5}), Scalar(*size_)); }), size_problem_ + remedy_);
}

}  // namespace
}  // namespace stax::test
