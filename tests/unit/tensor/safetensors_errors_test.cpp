#include "io_helpers.h"

namespace stax {
namespace {

class SafetensorsErrors : public testing::Test {
 protected:
  // What is wrong with a file of these bytes, after "the safetensors file 'PATH' ".
  std::string problem(const std::string& bytes) const {
    const std::string path = folder_.write("m.safetensors", bytes), prefix = "the safetensors file '" + path + "' ";
    const std::string text = problem_of([&] { io::load_safetensors(path); });
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }
  // The same for this header over `bytes` bytes of data.
  std::string header(const std::string& json, std::size_t bytes = 8) const {
    return problem(safetensors(json, std::string(bytes, '\1')));
  }
  // The same for one tensor "x" with these fields.
  std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets,
                     std::size_t bytes = 8) const {
    return header("{\"x\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}", bytes);
  }
  Folder folder_;
};

}  // namespace

TEST_F(SafetensorsErrors, MissingFileKeepsTheUsersLine) {
  try {
    io::load_safetensors("/nowhere/m.safetensors", SourceLoc("main.cpp", 3));
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "cannot open '/nowhere/m.safetensors': No such file or directory at main.cpp:3");
  }
}

TEST_F(SafetensorsErrors, Truncated) {
  EXPECT_EQ(problem(""), "is truncated: it has 0 bytes, not even a header");
  EXPECT_EQ(problem("1234567"), "is truncated: it has 7 bytes, not even a header");
}

TEST_F(SafetensorsErrors, HeaderLongerThanTheFile) {
  EXPECT_EQ(problem(std::string("\x03\0\0\0\0\0\0\0{}", 10)),
            "is truncated or malformed: it announces a header of 3 bytes, but has 2 after the length");
  EXPECT_EQ(
      problem("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}"),
      "is truncated or malformed: it announces a header of 18446744073709551615 bytes, but has 2 after the length");
}

TEST_F(SafetensorsErrors, HeaderThatIsNoJson) {
  EXPECT_TRUE(header("").starts_with("has a header that is not JSON: ")) << header("");
  EXPECT_TRUE(header("{\"x\":").starts_with("has a header that is not JSON: "));
  EXPECT_TRUE(header("{} x").starts_with("has a header that is not JSON: "));
  EXPECT_TRUE(header("{\"\xFF\":{}}").starts_with("has a header that is not JSON: ")) << "not UTF-8";
  EXPECT_EQ(header("[]"), "has a header that is no JSON object");
  EXPECT_EQ(header("{\"x\":" + std::string(100000, '[')), "nests its header deeper than a tensor's shape");
}

TEST_F(SafetensorsErrors, DuplicateNames) {
  const std::string x = R"("x":{"dtype":"I64","shape":[],"data_offsets":[0,8]})";
  EXPECT_EQ(header("{" + x + "," + x + "}"), "has the name \"x\" twice in its header");
  EXPECT_EQ(header(R"({"x":{"dtype":"I64","dtype":"F32","shape":[],"data_offsets":[0,8]}})"),
            "has the name \"dtype\" twice in its header");
}

TEST_F(SafetensorsErrors, UnknownDtype) {
  EXPECT_EQ(
      tensor("\"U16\"", "[4]", "[0,8]"),
      "is malformed: tensor \"x\" has the dtype \"U16\"; valid are BOOL, U8, I8, I16, I32, I64, F16, BF16, F32, F64, "
      "F8_E4M3, F8_E5M2");
  EXPECT_EQ(tensor("5", "[4]", "[0,8]"), "is malformed: tensor \"x\" has a 'dtype' that is no string");
}

TEST_F(SafetensorsErrors, OffsetsOutsideTheData) {
  EXPECT_EQ(tensor("\"F32\"", "[3]", "[0,12]"), "is malformed: tensor \"x\" ends at byte 12 of the data, which has 8");
  EXPECT_EQ(tensor("\"F32\"", "[2]", "[8,0]"), "is malformed: tensor \"x\" begins at 8, after its end at 0");
  EXPECT_EQ(tensor("\"F32\"", "[2]", "[0,18446744073709551615]"),
            "is malformed: tensor \"x\" has 18446744073709551615 in 'data_offsets', which does not fit 63 bits");
  EXPECT_EQ(tensor("\"F32\"", "[2]", "[-8,0]"),
            "is malformed: tensor \"x\" has the negative number -8 in 'data_offsets'");
}

TEST_F(SafetensorsErrors, Overlap) {
  EXPECT_EQ(
      header(
          R"({"x":{"dtype":"I32","shape":[],"data_offsets":[0,4]},"y":{"dtype":"I16","shape":[3],"data_offsets":[2,8]}})"),
      "is malformed: tensors \"x\" and \"y\" overlap");
}

TEST_F(SafetensorsErrors, Holes) {
  EXPECT_EQ(
      header(
          R"({"x":{"dtype":"I16","shape":[],"data_offsets":[0,2]},"y":{"dtype":"I32","shape":[],"data_offsets":[4,8]}})"),
      "is malformed: no tensor owns the bytes 2 to 4 of the data");
  EXPECT_EQ(tensor("\"I32\"", "[]", "[0,4]"), "is malformed: no tensor owns the last 4 bytes");
  EXPECT_EQ(header("{}", 1), "is malformed: no tensor owns the last 1 bytes");
}

TEST_F(SafetensorsErrors, WrongSizes) {
  EXPECT_EQ(tensor("\"F32\"", "[3]", "[0,8]"), "is malformed: tensor \"x\" has 8 bytes, but shape [3] of f32 needs 12");
  EXPECT_EQ(tensor("\"F32\"", "[-2]", "[0,8]"), "is malformed: tensor \"x\" has the negative number -2 in 'shape'");
  EXPECT_EQ(tensor("\"F32\"", "[4294967296,4294967296]", "[0,8]"),
            "is malformed: tensor \"x\" has shape [4294967296, 4294967296], whose size does not fit 64 bits");
  EXPECT_EQ(tensor("\"F32\"", "[0,4294967296,4294967296]", "[0,0]", 0),
            "is malformed: tensor \"x\" has shape [0, 4294967296, 4294967296], whose size does not fit 64 bits");
  EXPECT_EQ(tensor("\"F32\"", "[99999999999999999999]", "[0,8]"),
            "is malformed: tensor \"x\" has \"1e+20\" in 'shape', which is no whole number of 64 bits");
  EXPECT_EQ(tensor("\"F32\"", "[2.0]", "[0,8]"),
            "is malformed: tensor \"x\" has \"2.0\" in 'shape', which is no whole number of 64 bits");
}

TEST_F(SafetensorsErrors, HugeRank) {
  std::string shape = "[1";
  for (int i = 1; i < 100000; ++i) shape += ",1";
  EXPECT_EQ(tensor("\"F64\"", shape + "]", "[0,8]"),
            "is malformed: tensor \"x\" has 100000 dimensions; Stax has at most 16");
}

TEST_F(SafetensorsErrors, FieldsThatAreMissingOrForeign) {
  EXPECT_EQ(header("{\"x\":7}"), "is malformed: tensor \"x\" is no JSON object");
  EXPECT_EQ(header("{\"x\":{}}"), "is malformed: tensor \"x\" has no 'dtype'");
  EXPECT_EQ(header(R"({"x":{"dtype":"F32"}})"), "is malformed: tensor \"x\" has no 'shape'");
  EXPECT_EQ(header(R"({"x":{"dtype":"F64","shape":[]}})"), "is malformed: tensor \"x\" has no 'data_offsets'");
  EXPECT_EQ(header(R"({"x":{"stride":1}})"), "is malformed: tensor \"x\" has the unknown key \"stride\"");
  EXPECT_EQ(tensor("\"F64\"", "{}", "[0,8]"), "is malformed: tensor \"x\" has a 'shape' that is no list");
  EXPECT_EQ(tensor("\"F64\"", "[]", "[0,8,9]"), "is malformed: tensor \"x\" has 3 data_offsets, not 2");
  EXPECT_EQ(header(R"({"__metadata__":{"a":1}})", 0), "is malformed: metadata \"a\" is no string");
}

TEST_F(SafetensorsErrors, BooleansOtherThanZeroAndOne) {
  EXPECT_EQ(problem(safetensors(R"({"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", "\x01\xFF")),
            "holds the byte 0xFF as boolean 1 of tensor \"x\"");
}

}  // namespace stax
