// Building blocks of operator samples: shapes and layouts around every edge that rule 10 of the semantics names.
#pragma once
#include "ops/common.h"

namespace stax::ops {

inline const std::vector<Dtype> kAllDtypes = {Dtype::boolean, Dtype::u8,  Dtype::i8,   Dtype::i16, Dtype::i32,
                                              Dtype::i64,     Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64};
inline const std::vector<Dtype> kNumberDtypes = {Dtype::u8,  Dtype::i8,   Dtype::i16, Dtype::i32, Dtype::i64,
                                                 Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64};
inline const std::vector<Dtype> kIntDtypes = {Dtype::u8, Dtype::i8, Dtype::i16, Dtype::i32, Dtype::i64};
inline const std::vector<Dtype> kFloatDtypes = {Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64};

// Relative bound of one rounding in the dtype times `steps`; 0 for exact dtypes.
double tolerance_of(Dtype t, double steps = 4);

enum class Fill { small, unit, positive, special, whole, nonzero };
// small: normal numbers (integers: -9…9); unit: (-1, 1); positive: (0.1, 4); special: with NaN, ±inf, ±0, subnormal and
// huge values; whole: small whole numbers in any dtype; nonzero: whole without 0. Deterministic in (dtype, sizes,
// seed).
Array make_array(Dtype dtype, std::vector<std::int64_t> sizes, Fill fill = Fill::small, unsigned seed = 1);
// The same values behind another layout.
enum class LayoutKind { contiguous, transposed, stepped, reversed, expanded, offset };
Array make_array(Dtype dtype, std::vector<std::int64_t> sizes, LayoutKind layout, Fill fill = Fill::small,
                 unsigned seed = 1);
// A host scalar as a rank-0 array (f64, i64 or boolean).
Array scalar_array(double v);
Array scalar_array(std::int64_t v);

// Lengths around vector and block widths, as shapes of rank 1 and 2.
std::vector<std::vector<std::int64_t>> edge_shapes();

// Samples of a pointwise operator with `operands` tensor operands.
std::vector<Sample> pointwise_samples(int operands, const std::vector<Dtype>& dtypes, double float_steps,
                                      Fill fill = Fill::small, Attributes attributes = {});
// Samples of a reduction over every axis pattern of ranks 1 to 3; `attributes` beside axes and keepdim.
std::vector<Sample> reduction_samples(const std::vector<Dtype>& dtypes, double float_steps, Fill fill, bool empty_ok,
                                      bool single_axis = false, std::string axes_name = "axes",
                                      Attributes attributes = {});

}  // namespace stax::ops
