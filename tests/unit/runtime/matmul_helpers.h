// A matmul of Arrays against a reference in double or in wrapped int64.
#pragma once
#include <gtest/gtest.h>
#include <stax/tensor/array.h>

#include <cmath>
#include <random>

#include "runtime/cpu/matmul.h"

namespace stax::runtime::test {

// An array of the sizes whose memory is laid out in the order of `order` (outermost first), with `gap` unused elements
// after every innermost run, filled with small random values.
inline Array random_array(std::vector<std::int64_t> sizes, Dtype dtype, std::mt19937& rng, std::vector<int> order = {},
                          std::int64_t gap = 0) {
  const std::size_t rank = sizes.size();
  if (order.empty())
    for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<int>(i));
  Dims strides(rank);
  std::int64_t step = 1;
  for (std::size_t i = rank; i-- > 0;) {
    strides[static_cast<std::size_t>(order[i])] = step;
    step *= std::max<std::int64_t>(1, sizes[static_cast<std::size_t>(order[i])]);
    if (i + 1 == rank) step += gap;
  }
  Array flat = Array::empty({step}, dtype);
  std::uniform_int_distribution<int> whole(-9, 9);
  std::uniform_real_distribution<float> real(-1, 1);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < step; ++i) {
      if constexpr (std::is_integral_v<T>)
        flat.data_as<T>()[i] = static_cast<T>(whole(rng));
      else
        flat.data_as<T>()[i] = T(real(rng));
    }
  });
  return flat.with_layout(Layout{Dims(sizes.begin(), sizes.end()), strides, 0});
}

struct Product {
  Array a, b, out, bias, residual;
  Activation activation = Activation::none;
  double scale = 1;
  bool weight = false;

  void run() const {
    const std::size_t rank = out.sizes().size();
    MatmulArgs args;
    args.dtype = out.dtype();
    args.batch = std::span(out.sizes().data(), rank - 2);
    args.m = out.sizes()[rank - 2], args.n = out.sizes()[rank - 1], args.k = a.sizes()[rank - 1];
    auto operand = [](const Array& x) { return x.defined() ? MatmulOperand{x.data(), x.strides()} : MatmulOperand{}; };
    args.a = operand(a), args.b = operand(b), args.out = operand(out), args.bias = operand(bias);
    args.residual = operand(residual);
    args.activation = activation, args.scale = scale;
    if (weight) args.weight = &b.storage();
    cpu_matmul(args);
  }
};

inline double reference_activation(Activation f, double v) {
  switch (f) {
    case Activation::none:
      return v;
    case Activation::relu:
      return v < 0 ? 0 : v;
    case Activation::gelu_erf:
      return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
    case Activation::gelu_tanh:
      return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    case Activation::silu:
      return v / (1 + std::exp(-v));
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-v));
    case Activation::tanh:
      return std::tanh(v);
  }
  return v;
}

// Compares every element; the tolerance grows with k.
inline void expect_right(const Product& p) {
  const std::size_t rank = p.out.sizes().size();
  const std::int64_t k = p.a.sizes()[rank - 1];
  const bool exact = !is_floating(p.out.dtype());
  const double unit = p.out.dtype() == Dtype::f64   ? 1e-14
                      : p.out.dtype() == Dtype::f32 ? 1e-6
                      : p.out.dtype() == Dtype::f16 ? 1e-3
                                                    : 8e-3;
  int bad = 0;
  for_each_index(p.out.sizes(), [&](std::span<const std::int64_t> index) {
    if (bad > 3) return;
    Dims ia(index.begin(), index.end()), ib(index.begin(), index.end());
    double sum = 0;
    std::uint64_t wrapped = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      ia[rank - 1] = i, ib[rank - 2] = i;
      if (exact)
        wrapped += static_cast<std::uint64_t>(read_i64(p.a, ia)) * static_cast<std::uint64_t>(read_i64(p.b, ib));
      else
        sum += read_f64(p.a, ia) * read_f64(p.b, ib);
    }
    if (exact) {
      if (p.bias.defined()) wrapped += static_cast<std::uint64_t>(read_i64(p.bias, index));
      const int shift = 64 - 8 * byte_size(p.out.dtype());
      std::int64_t want = static_cast<std::int64_t>(wrapped << shift) >> shift;
      if (kind_of(p.out.dtype()) == DtypeKind::unsigned_integer)
        want = static_cast<std::int64_t>(wrapped << shift >> shift);
      if (read_i64(p.out, index) != want) {
        ++bad;
        ADD_FAILURE() << "at " << to_string(index) << ": " << read_i64(p.out, index) << ", not " << want;
      }
      return;
    }
    double want = sum * p.scale;
    if (p.bias.defined()) want += read_f64(p.bias, index);
    want = reference_activation(p.activation, want);
    if (p.residual.defined()) want += read_f64(p.residual, index);
    const double got = read_f64(p.out, index);
    const double tolerance = unit * (2 + std::sqrt(static_cast<double>(k)) + std::abs(want));
    if (!(std::abs(got - want) <= tolerance) && !(std::isnan(got) && std::isnan(want))) {
      ++bad;
      ADD_FAILURE() << "at " << to_string(index) << ": " << got << ", not " << want;
    }
  });
}

inline void check(const Product& p) {
  p.run();
  expect_right(p);
}

}  // namespace stax::runtime::test
