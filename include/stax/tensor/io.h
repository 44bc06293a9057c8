// Arrays in files: npy (NumPy's format, versions 1 to 3) and safetensors. CPU only. Every function throws UserError
// with the path, the values and `where` when a file is missing, cannot be read or written, or does not hold what it
// claims.
#pragma once
#include <stax/tensor/array.h>

#include <map>
#include <string>

namespace stax::io {

// The array of an npy file, copied into memory of its own. A file in Fortran order gives column-major strides. Element
// types: numpy's bool, uint8, int8 to int64, float16 to float64, little-endian, and the names bfloat16, float8_e4m3fn
// and float8_e5m2 of the ml_dtypes package.
Array load_npy(const std::string& path, const SourceLoc& where = {});

// Writes `array` row-major. The file appears whole or not at all; an old one is replaced in one step.
void save_npy(const std::string& path, const Array& array, const SourceLoc& where = {});

// All tensors of a safetensors file, by name. They share the mapped file, each as a read-only storage of its own, and
// keep it mapped while one of them lives; a tensor that is not aligned to its element size is copied. The file must not
// be shortened in the meantime.
std::map<std::string, Array> load_safetensors(const std::string& path, const SourceLoc& where = {});

}  // namespace stax::io
