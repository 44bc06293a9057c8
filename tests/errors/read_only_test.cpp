// Tensors of a mapped file cannot be written.
#include "message.h"

namespace stax::test {
namespace {

class ReadOnly : public testing::Test {
 protected:
  void SetUp() override {
    std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(header.size());
    const std::string path = (directory_.path() / "w.safetensors").string();
    base::write_file_atomic(path, bytes + header + std::string("\0\0\x80\x3f\0\0\0\x40", 8));
    mapped_ = load_safetensors(path).at("w");
  }
  base::TempDir directory_{"stax-errors"};
  Tensor mapped_;
};

TEST_F(ReadOnly, Fill) {
  EXPECT_EQ(message_of([this] { mapped_.fill_(1); }),
            "fill_: the tensor lies in read-only memory (a mapped file)" + at() + ". Write to a clone()");
}

TEST_F(ReadOnly, Copy) {
  EXPECT_EQ(message_of([this] { mapped_.copy_(ones({2})); }),
            "copy_: the tensor lies in read-only memory (a mapped file)" + at() + ". Write to a clone()");
}

TEST_F(ReadOnly, MemoryForWriting) {
  EXPECT_EQ(message_of([this] { (void)mapped_.mutable_data_ptr(); }),
            "mutable_data_ptr: the tensor lies in read-only memory (a mapped file)" + at() + ". Write to a clone()");
}

TEST_F(ReadOnly, ACompiledFunctionThatWrites) {
  const auto f = compile([](Tensor x) {
    x.fill_(7);
    return x + 1;
  });
  EXPECT_EQ(f(zeros({2})).to_vector<float>(), (std::vector<float>{8, 8}));
  EXPECT_EQ(message_of([&] { f(mapped_); }), "x0 is written, but its memory is read-only. Pass a copy (clone())");
  EXPECT_EQ(mapped_.to_vector<float>(), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace stax::test
