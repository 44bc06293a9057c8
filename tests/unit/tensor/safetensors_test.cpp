#include "io_helpers.h"

namespace stax {

TEST(Safetensors, EveryDtype) {
  const Folder folder;
  const std::vector<std::pair<std::string, Dtype>> dtypes = {
      {"F64", f64}, {"I64", i64}, {"F32", f32}, {"I32", i32},        {"F16", f16},        {"BF16", bf16},
      {"I16", i16}, {"U8", u8},   {"I8", i8},   {"F8_E4M3", f8e4m3}, {"F8_E5M2", f8e5m2}, {"BOOL", boolean}};
  std::string json = "{", data;
  for (const auto& [name, dtype] : dtypes) {
    const std::size_t begin = data.size();
    for (int i = 0; i < 2 * byte_size(dtype); ++i) data += static_cast<char>(dtype == boolean ? i % 2 : i + 40);
    json += (begin ? ",\"" : "\"") + name + "\":{\"dtype\":\"" + name + "\",\"shape\":[2,1],\"data_offsets\":[" +
            std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  json += "}";
  while (json.size() % 8 != 0) json += ' ';
  const auto arrays = io::load_safetensors(folder.write("m.safetensors", safetensors(json, data)));
  ASSERT_EQ(arrays.size(), dtypes.size());
  std::size_t at = 0;
  for (const auto& [name, dtype] : dtypes) {
    const Array& array = arrays.at(name);
    EXPECT_EQ(array.dtype(), dtype);
    EXPECT_EQ(array.sizes(), (Dims{2, 1}));
    const auto bytes = static_cast<std::size_t>(2 * byte_size(dtype));
    EXPECT_EQ(std::string(array.data_as<char>(), bytes), data.substr(at, bytes)) << name;
    at += bytes;
  }
}

TEST(Safetensors, SharesTheFileAndOutlivesIt) {
  const Folder folder;
  std::string json =
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})";
  while (json.size() % 8 != 0) json += ' ';
  const std::string path = folder.write("m.safetensors", safetensors(json, raw<float>({1, 2, 3})));
  auto arrays = io::load_safetensors(path);
  Array b = arrays.at("b");
  EXPECT_TRUE(b.storage()->read_only());
  EXPECT_NE(arrays.at("a").storage(), b.storage()) << "each tensor has its own version";
  EXPECT_EQ(arrays.at("a").data_as<float>() + 2, b.data_as<float>()) << "both lie in one mapping";
  arrays.clear();
  std::filesystem::remove(path);
  EXPECT_EQ(values_of<float>(b), std::vector<float>{3});
}

TEST(Safetensors, TensorsOffTheirAlignmentAreCopied) {
  const Folder folder;
  std::string json =
      R"({"flag":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})";
  while (json.size() % 8 != 0) json += ' ';
  const auto arrays = io::load_safetensors(
      folder.write("m.safetensors", safetensors(json, std::string(1, 5).append(raw<float>({1.5f, -2})))));
  EXPECT_EQ(values_of<float>(arrays.at("x")), (std::vector<float>{1.5f, -2}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arrays.at("x").data()) % 4, 0u);
  EXPECT_FALSE(arrays.at("x").storage()->read_only());
  EXPECT_TRUE(arrays.at("flag").storage()->read_only());
}

TEST(Safetensors, MetadataScalarsAndEmptyTensors) {
  const Folder folder;
  const auto arrays = io::load_safetensors(folder.write(
      "m.safetensors",
      safetensors(
          R"({"__metadata__":{"format":"pt"},"none":{"dtype":"I8","shape":[0,3],"data_offsets":[0,0]},"one":{"dtype":"I8","shape":[],"data_offsets":[0,1]},"end":{"dtype":"I8","shape":[0],"data_offsets":[1,1]}}  )",
          "\x07")));
  ASSERT_EQ(arrays.size(), 3u);
  EXPECT_EQ(arrays.at("none").sizes(), (Dims{0, 3}));
  EXPECT_EQ(values_of<std::int8_t>(arrays.at("one")), std::vector<std::int8_t>{7});
}

TEST(Safetensors, NoTensorAtAll) {
  const Folder folder;
  EXPECT_TRUE(io::load_safetensors(folder.write("m.safetensors", safetensors("{}", ""))).empty());
}

}  // namespace stax
