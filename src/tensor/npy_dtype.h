// How npy files spell element types.
#pragma once
#include <string_view>

#include "tensor/data_file.h"

namespace stax::io {

// "<f4" for f32; NumPy's names of the ml_dtypes package for the types that NumPy lacks.
std::string_view npy_spelling(Dtype dtype);

// The element type that `descr` spells; UserError of `file` for pickled objects, big-endian data and foreign types.
Dtype parse_npy_dtype(std::string_view descr, const DataFile& file);

}  // namespace stax::io
