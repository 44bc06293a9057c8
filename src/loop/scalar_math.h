// Scalar rules that the lane functions and the accumulators share.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensor/convert.h"

namespace stax::loop {

template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool kIsBool = std::is_same_v<T, bool>;
template <class T>
inline constexpr bool kIsInt = std::is_integral_v<T> && !kIsBool<T>;

// Wrapping integer arithmetic happens in 64 unsigned bits; the low bits are the result.
template <class T>
std::uint64_t wide(T v) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
}

template <class T>
T max_of(T a, T b) {
  if constexpr (kIsFloat<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

template <class T>
T min_of(T a, T b) {
  if constexpr (kIsFloat<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
}

// Identities of max and min.
template <class T>
T lowest_of() {
  if constexpr (kIsFloat<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}
template <class T>
T highest_of() {
  if constexpr (kIsFloat<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}

}  // namespace stax::loop
