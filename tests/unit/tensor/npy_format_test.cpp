// Files as NumPy writes and reads them.
#include "io_helpers.h"

namespace stax {

TEST(NpyFormat, WritesTheBytesThatNumpyWrites) {
  const Folder folder;
  io::save_npy(folder.path("a.npy"), array_of<float>({2, 3}, {0, 1, 2, 3, 4, 5}, f32));
  const std::string bytes = folder.read("a.npy");
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' ');
  EXPECT_EQ(bytes.substr(10, 118), header + "\n");
  EXPECT_EQ(bytes.substr(128), raw<float>({0, 1, 2, 3, 4, 5}));
}

TEST(NpyFormat, WritesTuplesLikePython) {
  const Folder folder;
  const auto header = [&](const Array& array) {
    io::save_npy(folder.path("a.npy"), array);
    const std::string bytes = folder.read("a.npy");
    return bytes.substr(10, bytes.find('}') - 9);
  };
  EXPECT_EQ(header(array_of<std::int64_t>({2}, {1, 2}, i64)),
            "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }");
  EXPECT_EQ(header(array_of<std::uint8_t>({}, {7}, u8)), "{'descr': '|u1', 'fortran_order': False, 'shape': (), }");
}

TEST(NpyFormat, ReadsTheThreeVersions) {
  const Folder folder;
  for (int version : {1, 2, 3}) {
    const std::string path = folder.write("a.npy", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }\n",
                                                       raw<std::int32_t>({7, -8, 9}), version));
    EXPECT_EQ(values_of<std::int32_t>(io::load_npy(path)), (std::vector<std::int32_t>{7, -8, 9})) << version;
  }
}

TEST(NpyFormat, FortranOrderGivesColumnMajorStrides) {
  const Folder folder;
  const std::string path = folder.write(
      "a.npy", npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", raw<double>({0, 3, 1, 4, 2, 5})));
  const Array array = io::load_npy(path);
  EXPECT_EQ(array.strides(), (Dims{1, 2}));
  EXPECT_EQ(values_of<double>(array), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST(NpyFormat, ReadsOtherSpellingsOfTheDictionary) {
  const Folder folder;
  const std::string path = folder.write(
      "a.npy", npy("{\"shape\":(2 ,1,) , 'fortran_order':False,\n'descr':\"|b1\"}  \n", std::string("\x01\x00", 2)));
  const Array array = io::load_npy(path);
  EXPECT_EQ(array.dtype(), boolean);
  EXPECT_EQ(array.sizes(), (Dims{2, 1}));
}

TEST(NpyFormat, OrderOfSingleBytesDoesNotMatter) {
  const Folder folder;
  for (const char* descr : {"|i1", "<i1", ">i1"}) {
    const std::string path = folder.write(
        "a.npy", npy("{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (1,), }", "\xFE"));
    EXPECT_EQ(values_of<std::int8_t>(io::load_npy(path)), (std::vector<std::int8_t>{-2})) << descr;
  }
}

}  // namespace stax
