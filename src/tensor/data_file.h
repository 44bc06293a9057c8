// What readers of array files share: the mapped file, its errors, and the arithmetic that no shape can fool.
#pragma once
#include <stax/base/error.h>
#include <stax/tensor/array.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"

namespace stax::io {

// A file being read. `format` is the word for messages: "npy", "safetensors".
struct DataFile {
  std::string format, path;
  SourceLoc where;
  std::shared_ptr<const base::MappedFile> mapping;

  // Maps the file; UserError with `where` when that fails.
  static DataFile open(std::string format, const std::string& path, const SourceLoc& where);

  std::string_view text() const { return mapping->text(); }
  // Throws UserError "the FORMAT file 'PATH' PROBLEM".
  [[noreturn]] void fail(const std::string& problem, const std::string& remedy = {}) const;
  // Bytes are C++ bools only when they are 0 or 1; anything else is refused. `name` says whose data it is.
  void check_booleans(std::string_view data, std::string_view name) const;
};

// Bytes of an array of this shape, or nothing when a size is negative or the product of the sizes that are not zero
// does not fit 63 bits (so strides are safe even for empty arrays).
std::optional<std::int64_t> bytes_of_shape(std::span<const std::int64_t> sizes, Dtype dtype);

// At most 60 characters of `text` in quotes, with what is not printable ASCII escaped; for messages.
std::string excerpt(std::string_view text);

}  // namespace stax::io
