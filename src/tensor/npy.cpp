#include <fmt/format.h>
#include <stax/tensor/io.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tensor/data_file.h"
#include "tensor/npy_header.h"

namespace stax::io {

static_assert(std::endian::native == std::endian::little, "npy and safetensors data is used as it lies in the file");

Array load_npy(const std::string& path, const SourceLoc& where) {
  const DataFile file = DataFile::open("npy", path, where);
  const NpyHeader header = parse_npy_header(file);
  const std::span<const std::int64_t> shape(header.shape.data(), header.shape.size());
  const auto bytes = bytes_of_shape(shape, header.dtype);
  if (!bytes) file.fail(fmt::format("has shape {}, whose size does not fit 64 bits", to_string(shape)));
  const std::string_view data = file.text().substr(header.data_begin);
  if (static_cast<std::uint64_t>(*bytes) != data.size())
    file.fail(fmt::format("has {} bytes of data, but shape {} of {} needs {}", data.size(), to_string(shape),
                          to_text(header.dtype), *bytes));
  if (header.dtype == Dtype::boolean) file.check_booleans(data, "the array");

  Array array = Array::empty(shape, header.dtype);
  if (!data.empty()) std::memcpy(array.data(), data.data(), data.size());
  if (!header.fortran_order) return array;
  Dims reversed(header.shape.rbegin(), header.shape.rend());
  Dims strides = contiguous_strides(std::span<const std::int64_t>(reversed.data(), reversed.size()));
  std::reverse(strides.begin(), strides.end());
  return array.with_layout(Layout{header.shape, strides, 0});
}

void save_npy(const std::string& path, const Array& array, const SourceLoc& where) {
  if (!array.defined()) throw UserError(fmt::format("an undefined tensor cannot be saved to '{}'", path), where);
  if (array.device().kind != DeviceKind::cpu)
    throw UserError(fmt::format("a tensor on {} cannot be saved to '{}'", to_string(array.device()), path), where,
                    "Move it to the CPU first: x.to(cpu).");
  const std::span<const std::int64_t> shape(array.sizes().data(), array.sizes().size());
  std::string content = print_npy_header(array.dtype(), shape);
  const std::size_t begin = content.size(), bytes = static_cast<std::size_t>(array.numel()) * byte_size(array.dtype());
  content.resize(begin + bytes);
  if (bytes > 0) {
    // A multiple of 64 bytes from the string's own start, which is aligned for every element type.
    auto target = std::make_shared<Storage>(content.data() + begin, bytes, Device{}, nullptr);
    copy_elements(array, Array(std::move(target), array.dtype(), contiguous_layout(shape)));
  }
  try {
    base::write_file_atomic(path, content);
  } catch (const UserError& e) {
    throw UserError(e.problem(), where, e.remedy());
  }
}

}  // namespace stax::io
