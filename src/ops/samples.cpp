#include "ops/samples.h"

#include <cmath>
#include <limits>
#include <random>

namespace stax::ops {

double tolerance_of(Dtype t, double steps) {
  switch (t) {
    case Dtype::f64:
      return steps * 0x1p-52;
    case Dtype::f32:
      return steps * 0x1p-23;
    case Dtype::f16:
      return steps * 0x1p-10;
    case Dtype::bf16:
      return steps * 0x1p-7;
    case Dtype::f8e4m3:
      return steps * 0x1p-3;
    case Dtype::f8e5m2:
      return steps * 0x1p-2;
    default:
      return 0;
  }
}

namespace {

double draw(std::mt19937& g, Dtype t, Fill fill, std::int64_t i) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::normal_distribution<double> normal;
  const double whole = static_cast<double>(static_cast<int>(g() % 19) - 9);
  const bool is_unsigned = t == Dtype::u8 || t == Dtype::boolean;
  switch (fill) {
    case Fill::whole:
      return is_unsigned ? std::fabs(whole) : whole;
    case Fill::nonzero: {
      const double v = whole == 0 ? 3 : whole;
      return is_unsigned ? std::fabs(v) : v;
    }
    case Fill::unit:
      return is_floating(t) ? uniform(g) : static_cast<double>(g() % 2);
    case Fill::positive:
      return is_floating(t) ? 2.05 + 1.95 * uniform(g) : static_cast<double>(1 + g() % 4);
    case Fill::special: {
      if (!is_floating(t)) {
        const double edge = t == Dtype::boolean ? 1 : std::ldexp(1.0, byte_size(t) * 8 - (t == Dtype::u8 ? 0 : 1)) - 1;
        const double table[] = {0, 1, edge, is_unsigned ? edge - 1 : -edge - 1, 2, is_unsigned ? 3.0 : -1.0};
        return t == Dtype::i64 ? std::fmod(table[i % 6], 0x1p53) : table[i % 6];
      }
      const double inf = std::numeric_limits<double>::infinity();
      const double table[] = {0.0,      -0.0,      1,    -1,    inf,  -inf, std::nan(""),
                              0x1p-149, -0x1p-130, 88.5, -88.5, 3e38, 0.5,  1e-8};
      return i % 3 == 0 ? table[static_cast<std::size_t>(i / 3) % 14] : normal(g);
    }
    case Fill::small:
      break;
  }
  return is_floating(t) ? normal(g) : (is_unsigned ? std::fabs(whole) : whole);
}

void fill_array(const Array& a, Fill fill, unsigned seed) {
  std::mt19937 g(seed * 7919u + static_cast<unsigned>(a.numel()) * 31u + static_cast<unsigned>(a.dtype()));
  std::int64_t i = 0;
  for_each_index(std::span(a.sizes().data(), a.sizes().size()), [&](std::span<const std::int64_t> index) {
    Array one = Array::empty({}, Dtype::f64);
    *one.data_as<double>() = draw(g, a.dtype(), fill, i++);
    Layout at{{}, {}, a.offset()};
    for (std::size_t d = 0; d < index.size(); ++d) at.offset += index[d] * a.strides()[d];
    copy_elements(one, a.with_layout(at));
  });
}

}  // namespace

Array make_array(Dtype dtype, std::vector<std::int64_t> sizes, Fill fill, unsigned seed) {
  Array a = Array::empty(sizes, dtype);
  fill_array(a, fill, seed);
  return a;
}

Array make_array(Dtype dtype, std::vector<std::int64_t> sizes, LayoutKind kind, Fill fill, unsigned seed) {
  const std::size_t rank = sizes.size();
  if (kind == LayoutKind::contiguous || rank == 0) return make_array(dtype, sizes, fill, seed);
  if (kind == LayoutKind::expanded) {
    std::vector<std::int64_t> base = sizes;
    base[0] = std::min<std::int64_t>(base[0], 1);
    Array a = make_array(dtype, base, fill, seed);
    return graph::broadcast_to(a, sizes);
  }
  std::vector<std::int64_t> room = sizes;
  Layout layout{Dims(sizes.begin(), sizes.end()), {}, 0};
  if (kind == LayoutKind::transposed) std::reverse(room.begin(), room.end());
  if (kind == LayoutKind::stepped) room.back() = room.back() * 2 + 1;
  if (kind == LayoutKind::offset) room.front() += 1;
  Array a = Array::empty(room, dtype);
  layout.strides = a.strides();
  if (kind == LayoutKind::transposed) std::reverse(layout.strides.begin(), layout.strides.end());
  if (kind == LayoutKind::stepped) layout.strides.back() = 2, layout.offset = 1;
  if (kind == LayoutKind::offset) layout.offset = room.front() == 1 ? 0 : layout.strides.front();
  if (kind == LayoutKind::reversed && sizes.back() > 0) layout.offset = sizes.back() - 1, layout.strides.back() = -1;
  Array view = a.with_layout(layout);
  fill_array(view, fill, seed);
  return view;
}

Array scalar_array(double v) {
  Array a = Array::empty({}, Dtype::f64);
  *a.data_as<double>() = v;
  return a;
}
Array scalar_array(std::int64_t v) {
  Array a = Array::empty({}, Dtype::i64);
  *a.data_as<std::int64_t>() = v;
  return a;
}

std::vector<std::vector<std::int64_t>> edge_shapes() {
  return {{},   {0},    {1},    {7},    {15},    {16},     {17},    {31},
          {33}, {0, 3}, {3, 0}, {1, 1}, {3, 17}, {16, 16}, {5, 33}, {2, 3, 19}};
}

std::vector<Sample> pointwise_samples(int operands, const std::vector<Dtype>& dtypes, double float_steps, Fill fill,
                                      Attributes attributes) {
  std::vector<Sample> samples;
  auto add = [&](Dtype t, const std::vector<std::vector<std::int64_t>>& sizes, LayoutKind layout, Fill f,
                 std::string note) {
    Sample s{{}, {}, attributes, tolerance_of(t, float_steps), std::move(note)};
    for (std::size_t i = 0; i < sizes.size(); ++i)
      s.operands.push_back(
          make_array(t, sizes[i], i == 0 ? layout : LayoutKind::contiguous, f, static_cast<unsigned>(i + 1)));
    samples.push_back(std::move(s));
  };
  auto same = [&](const std::vector<std::int64_t>& shape) {
    return std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(operands), shape);
  };
  for (const auto& shape : edge_shapes())
    add(dtypes.back() == Dtype::f64 ? Dtype::f32 : dtypes.front(), same(shape), LayoutKind::contiguous, fill,
        "edge shape");
  for (Dtype t : dtypes) {
    add(t, same({3, 35}), LayoutKind::contiguous, fill, "dtype");
    if (fill == Fill::small || (fill == Fill::nonzero && is_floating(t)))
      add(t, same({47}), LayoutKind::contiguous, Fill::special, "special values");
    if (operands > 1) {
      auto shapes = same({4, 18});
      shapes[1] = {1, 18};
      add(t, shapes, LayoutKind::contiguous, fill, "broadcast");
      shapes[1] = {};
      add(t, shapes, LayoutKind::contiguous, fill, "rank 0");
    }
  }
  const Dtype t = dtypes.back() == Dtype::f64 ? Dtype::f32 : dtypes.front();
  for (LayoutKind layout :
       {LayoutKind::transposed, LayoutKind::stepped, LayoutKind::reversed, LayoutKind::expanded, LayoutKind::offset})
    add(t, same({5, 19}), layout, fill, "layout");
  add(t, same({2, 3, 2, 9}), LayoutKind::stepped, fill, "rank 4");
  add(t, same({70001}), LayoutKind::contiguous, fill, "several threads");
  return samples;
}

std::vector<Sample> reduction_samples(const std::vector<Dtype>& dtypes, double float_steps, Fill fill, bool empty_ok,
                                      bool single_axis, std::string axes_name, Attributes attributes) {
  std::vector<Sample> samples;
  auto add = [&](Dtype t, std::vector<std::int64_t> sizes, Attribute axes, bool keepdim, LayoutKind layout, Fill f,
                 std::string note) {
    Attributes a = attributes;
    if (single_axis)
      if (const auto* list = std::get_if<std::vector<std::int64_t>>(&axes)) axes = Attribute(list->at(0));
    a[axes_name] = std::move(axes);
    a["keepdim"] = keepdim;
    samples.push_back(Sample{{make_array(t, std::move(sizes), layout, f)},
                             {},
                             std::move(a),
                             tolerance_of(t == Dtype::i64 || t == Dtype::f64 ? t
                                          : is_floating(t)                   ? t
                                                                             : Dtype::i64,
                                          float_steps),
                             std::move(note)});
  };
  using Axes = std::vector<std::int64_t>;
  const Dtype main = Dtype::f32;
  for (std::int64_t n : {1, 2, 15, 16, 17, 31, 33, 1000}) {
    add(main, {n}, Axes{0}, false, LayoutKind::contiguous, fill, "length");
    add(main, {3, n}, Axes{-1}, false, LayoutKind::contiguous, fill, "rows");
    add(main, {n, 5}, Axes{0}, true, LayoutKind::contiguous, fill, "columns");
  }
  const Fill exact = fill == Fill::small ? Fill::whole : fill;  // long sums whose order does not matter
  add(main, {70001}, Axes{0}, false, LayoutKind::contiguous, exact, "several threads share a row");
  add(main, {33000, 3}, Axes{0}, false, LayoutKind::contiguous, exact, "several threads share columns");
  add(main, {900, 80}, Axes{1}, false, LayoutKind::contiguous, exact, "several threads");
  if (empty_ok) {
    add(main, {0}, Axes{0}, false, LayoutKind::contiguous, fill, "empty");
    add(main, {3, 0}, Axes{1}, true, LayoutKind::contiguous, fill, "empty rows");
  }
  add(main, {0, 3}, Axes{1}, false, LayoutKind::contiguous, fill, "no rows");
  add(main, {}, Attribute{}, false, LayoutKind::contiguous, fill, "rank 0");
  add(main, {2, 5, 18}, Attribute{}, false, LayoutKind::contiguous, fill, "all axes");
  add(main, {3, 4, 17}, Axes{1}, true, LayoutKind::contiguous, fill, "middle axis");
  if (!single_axis) add(main, {3, 4, 17}, Axes{0, 2}, false, LayoutKind::contiguous, fill, "outer and inner axis");
  for (Dtype t : dtypes) {
    add(t, {4, 37}, Axes{1}, false, LayoutKind::contiguous, fill, "dtype");
    add(t, {37, 4}, Axes{0}, false, LayoutKind::contiguous, fill, "dtype columns");
    if (fill == Fill::small) add(t, {6, 21}, Axes{1}, false, LayoutKind::contiguous, Fill::special, "special values");
  }
  for (LayoutKind layout : {LayoutKind::transposed, LayoutKind::stepped, LayoutKind::reversed, LayoutKind::expanded}) {
    add(main, {6, 19}, Axes{0}, false, layout, fill, "layout");
    add(main, {6, 19}, Axes{1}, false, layout, fill, "layout");
  }
  return samples;
}

}  // namespace stax::ops
