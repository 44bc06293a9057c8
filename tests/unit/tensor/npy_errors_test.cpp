#include "io_helpers.h"

namespace stax {
namespace {

class NpyErrors : public testing::Test {
 protected:
  // What is wrong with a file of these bytes, after "the npy file 'PATH' ".
  std::string problem(const std::string& bytes) const {
    const std::string path = folder_.write("a.npy", bytes), prefix = "the npy file '" + path + "' ";
    const std::string text = problem_of([&] { io::load_npy(path); });
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }
  // The same for a file with this dtype and shape.
  std::string problem(const std::string& descr, const std::string& shape, const std::string& data) const {
    return problem(npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }", data));
  }
  std::string malformed(const std::string& dictionary) const { return problem(npy(dictionary, "")); }
  Folder folder_;
};

}  // namespace

TEST_F(NpyErrors, MissingFileKeepsTheUsersLine) {
  try {
    io::load_npy("/nowhere/a.npy", SourceLoc("main.cpp", 12));
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "cannot open '/nowhere/a.npy': No such file or directory at main.cpp:12");
  }
}

TEST_F(NpyErrors, BadMagic) {
  EXPECT_EQ(problem(""), "does not begin with the magic of npy: it begins with \"\"");
  EXPECT_EQ(problem("PK\x03\x04zipzip"), "does not begin with the magic of npy: it begins with \"PK\\x03\\x04zi\"");
}

TEST_F(NpyErrors, UnknownVersion) {
  EXPECT_EQ(problem(std::string("\x93NUMPY\x04\x00\x00\x00", 10)), "has format version 4.0");
  EXPECT_EQ(problem(std::string("\x93NUMPY\x01\x02\x00\x00", 10)), "has format version 1.2");
}

TEST_F(NpyErrors, TruncatedHeader) {
  const std::string whole = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "");
  EXPECT_EQ(problem(whole.substr(0, 3)), "is truncated: its header needs 8 bytes, the file has 3");
  EXPECT_EQ(problem(whole.substr(0, 9)), "is truncated: its header needs 10 bytes, the file has 9");
  EXPECT_EQ(problem(whole.substr(0, 30)), "is truncated: its header needs 67 bytes, the file has 30");
  EXPECT_EQ(problem(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{}", 14)),
            "is truncated: its header needs 4294967307 bytes, the file has 14");
}

TEST_F(NpyErrors, TruncatedOrExcessData) {
  EXPECT_EQ(problem("'<f4'", "(3, 2)", std::string(23, 'x')), "has 23 bytes of data, but shape [3, 2] of f32 needs 24");
  EXPECT_EQ(problem("'<f4'", "()", std::string(5, 'x')), "has 5 bytes of data, but shape [] of f32 needs 4");
  EXPECT_EQ(problem("'<f4'", "(0, 5)", "x"), "has 1 bytes of data, but shape [0, 5] of f32 needs 0");
}

TEST_F(NpyErrors, ShapesThatLie) {
  EXPECT_EQ(problem("'<f4'", "(4294967296, 4294967296)", ""),
            "has shape [4294967296, 4294967296], whose size does not fit 64 bits");
  EXPECT_EQ(problem("'<f8'", "(1152921504606846976,)", ""),
            "has shape [1152921504606846976], whose size does not fit 64 bits");
  EXPECT_EQ(problem("'<f4'", "(0, 4294967296, 4294967296)", ""),
            "has shape [0, 4294967296, 4294967296], whose size does not fit 64 bits");
  EXPECT_EQ(problem("'<f4'", "(99999999999999999999,)", ""),
            "has a malformed header: a size that does not fit 64 bits, at character 51 of \"{'descr': '<f4', "
            "'fortran_order': False, 'shape': (999999999\"…");
  EXPECT_EQ(problem("'<f4'", "(-1,)", ""),
            "has a malformed header: the negative size -1, at character 51 of \"{'descr': '<f4', 'fortran_order': "
            "False, 'shape': (-1,), }\"");
}

TEST_F(NpyErrors, HugeRank) {
  std::string shape = "(";
  for (int i = 0; i < 100000; ++i) shape += "1, ";
  EXPECT_EQ(problem(npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ")}", "", 2)),
            "has more than 16 dimensions, the most Stax has");
}

TEST_F(NpyErrors, PickledObjects) {
  EXPECT_EQ(problem("'|O'", "(1,)", "\x80\x04."), "holds pickled Python objects");
  EXPECT_EQ(problem("'O'", "(1,)", "\x80\x04."), "holds pickled Python objects");
}

TEST_F(NpyErrors, BigEndian) {
  EXPECT_EQ(problem("'>f4'", "(1,)", "1234"), "is big-endian (dtype '>f4')");
  EXPECT_EQ(problem("'>i8'", "(1,)", "12345678"), "is big-endian (dtype '>i8')");
}

TEST_F(NpyErrors, ForeignTypes) {
  EXPECT_EQ(problem("'<c8'", "(1,)", "12345678"), "has dtype \"<c8\", which Stax does not have");
  EXPECT_EQ(problem("'<u2'", "(1,)", "12"), "has dtype \"<u2\", which Stax does not have");
  EXPECT_EQ(problem("'<V2'", "(1,)", "12"), "has dtype \"<V2\", which Stax does not have");
  EXPECT_EQ(problem("'<'", "(1,)", "12"), "has dtype \"<\", which Stax does not have");
  EXPECT_EQ(problem("''", "(1,)", "12"), "has dtype \"\", which Stax does not have");
  EXPECT_EQ(problem("[('x', '<f4')]", "(1,)", "1234"), "holds structured records");
}

TEST_F(NpyErrors, TheRemedyListsTheValidTypes) {
  const std::string path =
      folder_.write("a.npy", npy("{'descr': '<c8', 'fortran_order': False, 'shape': (), }", "12345678"));
  try {
    io::load_npy(path);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.remedy(),
              "Valid are '|b1', '|u1', '|i1', '<i2', '<i4', '<i8', '<f2', '<f4', '<f8', 'bfloat16', 'float8_e4m3fn', "
              "'float8_e5m2'.");
  }
}

TEST_F(NpyErrors, BooleansOtherThanZeroAndOne) {
  EXPECT_EQ(problem("'|b1'", "(3,)", std::string("\x01\x00\x02", 3)), "holds the byte 0x02 as boolean 2 of the array");
}

TEST_F(NpyErrors, NonAsciiHeader) {
  EXPECT_EQ(problem(npy("{'descr': '<f4', 'fortran_order': False, 'shap\xC3\xA9': (), }", "1234", 3)),
            "has the non-ASCII byte 0xC3 at offset 46 of its header");
}

TEST_F(NpyErrors, MalformedDictionaries) {
  EXPECT_EQ(malformed(""), "has a malformed header: '{' expected, at character 0 of \"\"");
  EXPECT_EQ(malformed("{}"), "has a malformed header: no 'descr', at character 2 of \"{}\"");
  EXPECT_EQ(malformed("{'descr': '<f4'}"),
            "has a malformed header: no 'fortran_order', at character 16 of \"{'descr': '<f4'}\"");
  EXPECT_EQ(malformed("{'descr': '<f4', 'fortran_order': True}").substr(0, 34), "has a malformed header: no 'shape'");
  EXPECT_EQ(malformed("{'x': 1}"), "has a malformed header: the unknown key \"x\", at character 5 of \"{'x': 1}\"");
  EXPECT_EQ(malformed("{'shape': (), 'shape': ()}"),
            "has a malformed header: the key 'shape' twice, at character 22 of \"{'shape': (), 'shape': ()}\"");
  EXPECT_EQ(malformed("{'shape': (3)}"),
            "has a malformed header: ',' expected in the shape, at character 12 of \"{'shape': (3)}\"");
  EXPECT_EQ(malformed("{'fortran_order': 1}"),
            "has a malformed header: True or False expected, at character 18 of \"{'fortran_order': 1}\"");
  EXPECT_EQ(malformed("{'descr"), "has a malformed header: a string without end, at character 1 of \"{'descr\"");
  EXPECT_EQ(malformed("{'shape': ()"),
            "has a malformed header: no ',' or '}' after a value, at character 12 of \"{'shape': ()\"");
  EXPECT_EQ(malformed("{'descr': '<f4', 'fortran_order': True, 'shape': ()} x").substr(0, 49),
            "has a malformed header: text after the dictionary");
}

}  // namespace stax
