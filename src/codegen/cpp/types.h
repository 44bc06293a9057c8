// Spellings of types and literals in generated C++ (see prelude/README.md).
#pragma once
#include <stax/tensor/dtype.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace stax::codegen {

std::string_view memory_type(Dtype t);          // "b8", "bf16", "f32": behind pointers
std::string_view register_type(Dtype compute);  // "bool", "f32"
std::string_view vector_type(Dtype compute);    // "boolv", "f32v"
// A scalar literal with exactly these bits (Value::bits).
std::string literal(std::uint64_t bits, Dtype compute);
// Bits of the largest or smallest value: infinities for floats.
std::uint64_t extreme_bits(Dtype compute, bool largest);
// The vector with `text` in every lane.
std::string splat(Dtype compute, std::string_view text);
std::string literal_of(double v, Dtype compute);

}  // namespace stax::codegen
