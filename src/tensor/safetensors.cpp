#include <fmt/format.h>
#include <stax/tensor/io.h>

#include <cstdint>
#include <cstring>

#include "tensor/data_file.h"
#include "tensor/safetensors_header.h"

namespace stax::io {
namespace {

Array array_of(const SafetensorsEntry& entry, const DataFile& file) {
  const std::string_view data = file.text().substr(entry.begin, entry.end - entry.begin);
  const std::span<const std::int64_t> shape(entry.shape.data(), entry.shape.size());
  if (entry.dtype == Dtype::boolean) file.check_booleans(data, "tensor " + excerpt(entry.name));
  if (reinterpret_cast<std::uintptr_t>(data.data()) % static_cast<std::uintptr_t>(byte_size(entry.dtype)) != 0) {
    Array copy = Array::empty(shape, entry.dtype);
    if (!data.empty()) std::memcpy(copy.data(), data.data(), data.size());
    return copy;
  }
  // Read-only: nobody writes through the pointer.
  auto storage = std::make_shared<Storage>(
      const_cast<char*>(data.data()), data.size(), Device{}, [mapping = file.mapping] {}, /*read_only=*/true);
  return Array(std::move(storage), entry.dtype, contiguous_layout(shape));
}

}  // namespace

std::map<std::string, Array> load_safetensors(const std::string& path, const SourceLoc& where) {
  const DataFile file = DataFile::open("safetensors", path, where);
  std::map<std::string, Array> arrays;
  for (SafetensorsEntry& entry : parse_safetensors_header(file)) {
    Array array = array_of(entry, file);
    arrays.emplace(std::move(entry.name), std::move(array));
  }
  return arrays;
}

}  // namespace stax::io
