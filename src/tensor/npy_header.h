// The header of an npy file: magic, version, and a Python dictionary literal with dtype, order and shape.
#pragma once
#include <cstddef>
#include <string>

#include "tensor/data_file.h"

namespace stax::io {

struct NpyHeader {
  Dtype dtype = Dtype::f32;
  bool fortran_order = false;
  Dims shape;
  std::size_t data_begin = 0;  // of the elements, in bytes from the start of the file
};

// Reads the header of a whole file. UserError for anything that is no header, and for dtypes that Stax does not have.
NpyHeader parse_npy_header(const DataFile& file);

// Magic, version 1.0 and header of a row-major array, padded so that the data begins at a multiple of 64 bytes.
std::string print_npy_header(Dtype dtype, std::span<const std::int64_t> shape);

}  // namespace stax::io
