#include "tensor/data_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace stax::io {

DataFile DataFile::open(std::string format, const std::string& path, const SourceLoc& where) {
  try {
    return {std::move(format), path, where, std::make_shared<const base::MappedFile>(path)};
  } catch (const UserError& e) {
    throw UserError(e.problem(), where, e.remedy());
  }
}

void DataFile::fail(const std::string& problem, const std::string& remedy) const {
  throw UserError(fmt::format("the {} file '{}' {}", format, path, problem), where, remedy);
}

void DataFile::check_booleans(std::string_view data, std::string_view name) const {
  const auto bad = std::find_if(data.begin(), data.end(), [](char c) { return (c & ~1) != 0; });
  if (bad != data.end())
    fail(fmt::format("holds the byte 0x{:02X} as boolean {} of {}", static_cast<unsigned char>(*bad),
                     bad - data.begin(), name),
         "Booleans are 0 or 1.");
}

std::optional<std::int64_t> bytes_of_shape(std::span<const std::int64_t> sizes, Dtype dtype) {
  std::int64_t bytes = byte_size(dtype);
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) return std::nullopt;
    empty |= size == 0;
    if (size > 0 && __builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  }
  return empty ? 0 : bytes;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string quoted = base::quote(text.substr(0, kLongest));
  if (text.size() > kLongest) quoted += "…";
  return quoted;
}

}  // namespace stax::io
