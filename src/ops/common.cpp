#include "ops/common.h"

#include <algorithm>
#include <cmath>

namespace stax::ops {

Param tensor(std::string name, std::string doc) { return {std::move(name), ParamKind::tensor, {}, std::move(doc)}; }
Param operand(std::string name, std::string doc) { return {std::move(name), ParamKind::operand, {}, std::move(doc)}; }
Param axis_param(std::string name, std::string doc, std::optional<std::int64_t> default_value) {
  return {std::move(name), ParamKind::axis, default_value ? std::optional<Attribute>(*default_value) : std::nullopt,
          std::move(doc)};
}
Param axes_param(std::string doc) { return {"axes", ParamKind::optional_axes, Attribute{}, std::move(doc)}; }
Param keepdim_param() { return {"keepdim", ParamKind::boolean, false, "keep the reduced axes with size 1"}; }
Param dtype_param(std::string doc) { return {"dtype", ParamKind::optional_dtype, Attribute{}, std::move(doc)}; }

Dtype float_result(Dtype t) { return is_floating(t) ? t : Dtype::f32; }

std::int64_t wrap(std::int64_t v, Dtype t) {
  switch (t) {
    case Dtype::boolean:
      return v != 0;
    case Dtype::u8:
      return static_cast<std::uint8_t>(v);
    case Dtype::i8:
      return static_cast<std::int8_t>(v);
    case Dtype::i16:
      return static_cast<std::int16_t>(v);
    case Dtype::i32:
      return static_cast<std::int32_t>(v);
    default:
      return v;
  }
}

double round_to_dtype(double v, Dtype t) {
  switch (t) {
    case Dtype::f64:
      return v;
    case Dtype::f16:
      return static_cast<float>(Half(static_cast<float>(v)));
    case Dtype::bf16:
      return static_cast<float>(BFloat16(static_cast<float>(v)));
    case Dtype::f8e4m3:
      return static_cast<float>(Float8E4M3(static_cast<float>(v)));
    case Dtype::f8e5m2:
      return static_cast<float>(Float8E5M2(static_cast<float>(v)));
    default:
      return static_cast<float>(v);
  }
}

namespace {

void write_element(const Array& a, std::int64_t offset, double d, std::int64_t i, bool floating) {
  visit_dtype(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T& slot = a.data_as<T>()[offset];
    if constexpr (std::is_class_v<T>)
      slot = T(floating ? static_cast<float>(d) : static_cast<float>(i));
    else if constexpr (std::is_same_v<T, bool>)
      slot = floating ? d != 0 : i != 0;
    else if constexpr (std::is_floating_point_v<T>)
      slot = floating ? static_cast<T>(d) : static_cast<T>(i);
    else
      slot = static_cast<T>(floating ? static_cast<std::int64_t>(d) : i);
  });
}

std::int64_t offset_of(const Array& a, std::span<const std::int64_t> index) {
  std::int64_t o = 0;
  for (std::size_t d = 0; d < index.size(); ++d) o += index[d] * a.strides()[d];
  return o;
}

}  // namespace

std::vector<Array> evaluate_pointwise(EvalContext& c, Dtype compute, const FloatFunction& on_float,
                                      const IntFunction& on_int) {
  Array out = c.make_result();
  const std::vector<std::int64_t> sizes = c.result_sizes();
  std::vector<Array> operands;
  for (std::size_t i = 0; i < c.operand_count(); ++i)
    if (c.has(i)) operands.push_back(graph::broadcast_to(c.operand(i), sizes));
  const bool floating = is_floating(compute);
  std::vector<double> d(operands.size());
  std::vector<std::int64_t> n(operands.size());
  for_each_index(sizes, [&](std::span<const std::int64_t> index) {
    double result = 0;
    std::int64_t whole = 0;
    if (floating) {
      for (std::size_t i = 0; i < operands.size(); ++i)
        d[i] = round_to_dtype(read_f64(operands[i], index), compute_dtype(compute));
      result = round_to_dtype(on_float(d), compute_dtype(compute));
    } else {
      for (std::size_t i = 0; i < operands.size(); ++i) n[i] = wrap(read_i64(operands[i], index), compute);
      whole = on_int(n);
    }
    write_element(out, offset_of(out, index), result, whole, floating);
  });
  return {out};
}

ReductionShape reduction_shape(InferContext& c, std::string_view axes_name, bool single_axis) {
  const TensorType& x = c.type(0);
  ReductionShape s;
  s.axes = c.axes(axes_name, x.rank());
  if (single_axis && !c.none(axes_name) && x.rank() > 0 && s.axes.size() != 1)
    c.error("takes one axis, or none for all");
  s.count = c.context().constant(1);
  std::size_t next = 0;
  for (int i = 0; i < x.rank(); ++i) {
    const Expr size = x.sizes[static_cast<std::size_t>(i)];
    if (next < s.axes.size() && s.axes[next] == i) {
      ++next;
      s.count = s.count * size;
      if (c.boolean("keepdim")) s.result_sizes.push_back(c.context().constant(1));
    } else {
      s.kept_sizes.push_back(size);
      s.result_sizes.push_back(size);
    }
  }
  return s;
}

std::vector<Expr> full_index(int rank, const std::vector<int>& reduced, Index outer, Index inner) {
  std::vector<Expr> index;
  std::size_t o = 0, r = 0;
  for (int i = 0; i < rank; ++i) {
    const bool is_reduced = r < reduced.size() && reduced[r] == i;
    index.push_back(is_reduced ? inner[r++] : outer[o++]);
  }
  return index;
}

std::vector<int> node_axes(const Node& node, std::string_view name) {
  const int rank = node.operands[0].type().rank();
  const Attribute& a = node.attributes.find(name)->second;
  std::vector<int> axes;
  auto add = [&](std::int64_t v) {
    if (rank > 0) axes.push_back(static_cast<int>(v < 0 ? v + rank : v));
  };
  if (const auto* one = std::get_if<std::int64_t>(&a)) {
    add(*one);
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a); list && !list->empty()) {
    for (std::int64_t v : *list) add(v);
  } else {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

SplitSizes split_sizes(const TensorType& x, const std::vector<int>& axes) {
  SplitSizes s;
  for (int i = 0; i < x.rank(); ++i)
    (std::binary_search(axes.begin(), axes.end(), i) ? s.reduced : s.kept)
        .push_back(x.sizes[static_cast<std::size_t>(i)]);
  return s;
}

std::vector<Expr> result_index(const Node& node, const std::vector<int>& axes, Index outer) {
  if (node.types[0].sizes.size() == outer.size()) return {outer.begin(), outer.end()};
  std::vector<Expr> index;
  std::size_t next = 0;
  const TensorType& x = node.operands[0].type();
  for (int i = 0; i < x.rank(); ++i)
    index.push_back(std::binary_search(axes.begin(), axes.end(), i) ? x.sizes[0].context().constant(0) : outer[next++]);
  return index;
}

void put(const Array& out, std::span<const std::int64_t> index, double v) {
  write_element(out, offset_of(out, index), v, 0, true);
}
void put(const Array& out, std::span<const std::int64_t> index, std::int64_t v) {
  write_element(out, offset_of(out, index), 0, v, false);
}

double nan_max(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : (a == b ? (std::signbit(a) ? b : a) : std::max(a, b));
}
double nan_min(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : (a == b ? (std::signbit(a) ? a : b) : std::min(a, b));
}

}  // namespace stax::ops
