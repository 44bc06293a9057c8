// The header of a safetensors file: a length and a JSON object with dtype, shape and place of each tensor.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "tensor/data_file.h"

namespace stax::io {

struct SafetensorsEntry {
  std::string name;
  Dtype dtype = Dtype::f32;
  Dims shape;
  std::size_t begin = 0, end = 0;  // in bytes from the start of the file
};

// The tensors in the order of their data. UserError unless they fill the data section of the file without overlap or
// hole and each has the bytes that its shape needs.
std::vector<SafetensorsEntry> parse_safetensors_header(const DataFile& file);

}  // namespace stax::io
