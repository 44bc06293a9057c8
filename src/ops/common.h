// Shared by the operator families: reference evaluation of pointwise operators, scalar arithmetic, parameter
// shorthands.
#pragma once
#include <functional>

#include "graph/op_def.h"

namespace stax::ops {

using graph::Attribute;
using graph::Attributes;
using graph::EvalContext;
using graph::Expr;
using graph::Graph;
using graph::InferContext;
using graph::LowerContext;
using graph::Node;
using graph::OpDef;
using graph::Param;
using graph::ParamKind;
using graph::Sample;
using graph::TensorType;
using graph::Value;
using graph::ViewMap;
using loop::KernelBuilder;
using loop::ScalarOp;
using loop::ValueId;
using Index = std::span<const Expr>;

// Parameters.
Param tensor(std::string name, std::string doc);
Param operand(std::string name, std::string doc);
Param axis_param(std::string name, std::string doc, std::optional<std::int64_t> default_value = {});
Param axes_param(std::string doc);   // "axes", default all
Param keepdim_param();               // "keepdim", default false
Param dtype_param(std::string doc);  // "dtype", default none

// The dtype in which float functions of `t` are computed and returned: integers and boolean become f32.
Dtype float_result(Dtype t);

// Two's complement wrap of `v` to the width of `t` (boolean: v != 0).
std::int64_t wrap(std::int64_t v, Dtype t);

// Reference of a pointwise operator: reads the operands in `compute` (f64 arithmetic for floats, rounded to `compute`;
// int64 wrapped to `compute` for integers and boolean) and stores the result, rounded to the result's dtype.
using FloatFunction = std::function<double(std::span<const double>)>;
using IntFunction = std::function<std::int64_t(std::span<const std::int64_t>)>;
std::vector<Array> evaluate_pointwise(EvalContext& c, Dtype compute, const FloatFunction& on_float,
                                      const IntFunction& on_int);

// Types of reductions: which axes stay, their sizes.
struct ReductionShape {
  std::vector<int> axes;           // reduced, ascending
  std::vector<Expr> kept_sizes;    // of the result with keepdim = false
  std::vector<Expr> result_sizes;  // with keepdim applied
  Expr count;                      // elements per result
};
ReductionShape reduction_shape(InferContext& c, std::string_view axes_name = "axes", bool single_axis = false);

// A loop index of the operand from outer (kept) and inner (reduced) axes.
std::vector<Expr> full_index(int rank, const std::vector<int>& reduced, Index outer, Index inner);

// The reduced axes of a reduction node, ascending (its attribute `name`; none: all).
std::vector<int> node_axes(const Node& node, std::string_view name = "axes");
// Sizes of the kept and of the reduced axes, and the index of the stored result (reduced axes have index 0 with
// keepdim).
struct SplitSizes {
  std::vector<Expr> kept, reduced;
};
SplitSizes split_sizes(const TensorType& x, const std::vector<int>& axes);
std::vector<Expr> result_index(const Node& node, const std::vector<int>& axes, Index outer);

// Writes one element, converted to the array's dtype.
void put(const Array& out, std::span<const std::int64_t> index, double v);
void put(const Array& out, std::span<const std::int64_t> index, std::int64_t v);

// NaN if either is NaN; +0 is larger than -0.
double nan_max(double a, double b);
double nan_min(double a, double b);

double round_to_dtype(double v, Dtype t);  // to the precision of a compute or storage dtype

}  // namespace stax::ops
