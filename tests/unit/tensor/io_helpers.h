// Files and arrays of the tests of npy, safetensors and DLPack.
#pragma once
#include <gtest/gtest.h>
#include <stax/tensor/array.h>
#include <stax/tensor/io.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"

namespace stax {

// A fresh folder with files of given bytes.
class Folder {
 public:
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string read(const std::string& name) const { return base::read_file(path(name)); }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) count += entry.exists() ? 1u : 0u;
    return count;
  }

 private:
  base::TempDir directory_{"stax-io"};
};

template <class T>
Array array_of(std::initializer_list<std::int64_t> sizes, const std::vector<T>& values, Dtype dtype) {
  Array array = Array::empty(sizes, dtype);
  EXPECT_EQ(values.size() * sizeof(T), static_cast<std::size_t>(array.numel() * byte_size(dtype)));
  if (!values.empty()) std::memcpy(array.data(), values.data(), values.size() * sizeof(T));
  return array;
}

// The elements in row-major order.
template <class T>
std::vector<T> values_of(const Array& array) {
  const Array dense = contiguous_copy(array);
  const T* data = dense.data_as<T>();
  return data ? std::vector<T>(data, data + dense.numel()) : std::vector<T>();
}

// The problem that `body` throws as UserError, without place and remedy.
template <class Body>
std::string problem_of(Body body) {
  try {
    body();
  } catch (const UserError& e) {
    return e.problem();
  }
  return "no error";
}

// The bytes of an npy file with this dictionary, version and data.
inline std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(dictionary.size() >> (8 * i) & 0xFF);
  return bytes + dictionary + data;
}

// The bytes of a safetensors file with this JSON header and data.
inline std::string safetensors(const std::string& json, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(json.size() >> (8 * i) & 0xFF);
  return bytes + json + data;
}

// The bytes of the values, as they lie in memory.
template <class T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace stax
