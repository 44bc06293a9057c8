// Arrays for the inputs of a random graph.
#pragma once
#include <stax/tensor/array.h>

#include <algorithm>
#include <numeric>

#include "recipe.h"

namespace stax::fuzz {

inline bool is_zero(std::int64_t v) { return v == 0; }
template <class T>
bool is_zero(const T& v) {
  return v.is_constant(0);
}

// Strides of an input's layout, over numbers and over expressions alike.
template <class T>
std::vector<T> strides_of(const InputSpec& in, const std::vector<T>& sizes, T one) {
  const std::size_t rank = sizes.size();
  std::vector<T> strides(rank, one);
  if (rank == 0) return strides;
  Random r(in.seed ^ 0x5bd1e995u);
  std::vector<std::size_t> order(rank);  // outermost first
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (in.layout == Layout::permuted)
    for (std::size_t i = rank; i-- > 1;)
      std::swap(order[i], order[static_cast<std::size_t>(r.below(static_cast<std::int64_t>(i) + 1))]);
  const auto special = static_cast<std::size_t>(r.below(static_cast<std::int64_t>(rank)));
  T step = one;
  for (std::size_t i = rank; i-- > 0;) {
    const std::size_t d = order[i];
    if (in.layout == Layout::stepped && d == special) step = step * T(one + one);
    strides[d] = step;
    if (!is_zero(sizes[d])) step = step * sizes[d];
    if (in.layout == Layout::padded && i == rank - 1) step = step + one + one + one;
  }
  if (in.layout == Layout::reversed) strides[special] = strides[special] * T(one - one - one);
  if (in.layout == Layout::expanded) strides[special] = one - one;
  return strides;
}

// The input at given values of Recipe::sizes; gaps of its storage are filled too. Host scalars have rank 0.
Array make_input(const InputSpec& in, const std::vector<std::int64_t>& sizes);
// The same layout over a copy of the whole storage.
Array deep_copy(const Array& a);

}  // namespace stax::fuzz
