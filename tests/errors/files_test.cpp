// Files that are missing, cut short, or do not hold what they claim: path, facts, the caller's line.
#include "message.h"

namespace stax::test {
namespace {

class FileErrors : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string path = (directory_.path() / name).string();
    base::write_file_atomic(path, bytes);
    return path;
  }
  // A safetensors file: the header's length, the header, the data.
  std::string safetensors(const std::string& header, const std::string& data, std::int64_t claimed = -1) const {
    std::uint64_t length = claimed < 0 ? header.size() : static_cast<std::uint64_t>(claimed);
    std::string bytes(8, '\0');
    for (char& c : bytes) c = static_cast<char>(length & 255), length >>= 8;
    return write("x.safetensors", bytes + header + data);
  }
  base::TempDir directory_{"stax-errors"};
};

TEST_F(FileErrors, Missing) {
  EXPECT_EQ(message_of([] { load_npy("no-such-file.npy"); }),
            "cannot open 'no-such-file.npy': No such file or directory" + at());
  EXPECT_EQ(message_of([] { load_safetensors("no-such-file.safetensors"); }),
            "cannot open 'no-such-file.safetensors': No such file or directory" + at());
}

TEST_F(FileErrors, NpyCutShort) {
  const std::string path = (directory_.path() / "x.npy").string();
  save_npy(path, zeros({100, 3}));
  const std::string whole = base::read_file(path);
  write("x.npy", whole.substr(0, whole.size() - 10));
  EXPECT_EQ(message_of([&] { load_npy(path); }),
            "the npy file '" + path + "' has 1190 bytes of data, but shape [100, 3] of f32 needs 1200" + at());
}

TEST_F(FileErrors, NotAnNpyFile) {
  const std::string path = write("x.npy", "hello, this is a text");
  EXPECT_EQ(message_of([&] { load_npy(path); }),
            "the npy file '" + path + "' does not begin with the magic of npy: it begins with \"hello,\"" + at());
}

TEST_F(FileErrors, SafetensorsHeaderLongerThanTheFile) {
  const std::string path = safetensors("{}", "", 1000000);
  EXPECT_EQ(message_of([&] { load_safetensors(path); }),
            "the safetensors file '" + path +
                "' is truncated or malformed: it announces a header of 1000000 bytes, but has 2 after the length" +
                at());
}

TEST_F(FileErrors, SafetensorsOffsetsOutside) {
  const std::string path = safetensors(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", "12345678");
  EXPECT_EQ(
      message_of([&] { load_safetensors(path); }),
      "the safetensors file '" + path + "' is malformed: tensor \"w\" ends at byte 16 of the data, which has 8" + at());
}

TEST_F(FileErrors, SafetensorsShapeThatDoesNotFitItsBytes) {
  const std::string path = safetensors(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678");
  EXPECT_EQ(message_of([&] { load_safetensors(path); }),
            "the safetensors file '" + path +
                "' is malformed: tensor \"w\" has 8 bytes, but shape [3] of f32 needs 12" + at());
}

TEST_F(FileErrors, AFailedSaveLeavesTheOldFile) {
  const std::string path = (directory_.path() / "x.npy").string();
  save_npy(path, ones({2}));
  EXPECT_NE(message_of([&] { save_npy(path + "/y.npy", zeros({2})); }), "no error");
  EXPECT_EQ(load_npy(path).to_vector<float>(), (std::vector<float>{1, 1}));
}

}  // namespace
}  // namespace stax::test
