// The meaning of the scalar operations as code: functions over lanes (arrays of n elements), shared by the interpreter
// and the constant folder.
//
// A lane array of dtype t holds C++ values of t (boolean: bool). Half types occur only in conversions of loads, stores
// and round_to.
#pragma once
#include <stax/tensor/dtype.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "loop/scalar_ops.h"

namespace stax::loop {

// Returns false on an integer division by zero; `out` may equal an operand.
using LaneFn = bool (*)(std::size_t n, void* out, const void* a, const void* b, const void* c);

// The function of an operation on operands of dtype `operand` (for select: of its second operand). Null when the
// operation has none: leaves, combine, scan, part, cast, round_to, or an operand class that excludes the dtype.
LaneFn lane_function(ScalarOp op, Dtype operand);
// Conversion between any two dtypes, half types included. Floats to integers truncate and wrap like the low bits of a
// saturated int64, NaN gives 0; to boolean is != 0.
LaneFn cast_function(Dtype from, Dtype to);
// f32 rounded to a half type and back.
LaneFn round_function(Dtype half);

// Bits of a constant (Value::bits) from and to one lane.
std::uint64_t bits_of_lane(const void* lane, Dtype dtype);
void lane_of_bits(std::uint64_t bits, Dtype dtype, void* lane);
std::uint64_t bits_of_double(double v, Dtype dtype);  // converts as `cast` does
std::uint64_t bits_of_int(std::int64_t v, Dtype dtype);

// Whether the operation gives the same bits on every target: all but functions that are approximated.
bool is_exact(ScalarOp op);
// The result on constant operands; nullopt when the operation is not exact or divides an integer by zero.
std::optional<std::uint64_t> fold(ScalarOp op, Dtype operand, Dtype result, std::uint64_t a, std::uint64_t b,
                                  std::uint64_t c);

}  // namespace stax::loop
