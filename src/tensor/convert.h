// One element from dtype to dtype.
#pragma once
#include <stax/tensor/dtype.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace stax {

// The meaning of `cast`, half types included.
template <class To, class From>
To convert(From v) {
  if constexpr (std::is_class_v<From>) {
    return convert<To>(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_class_v<To>) {
    return To(static_cast<float>(v));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Out of range: the low bits of the nearest int64, on every machine.
    if (std::isnan(v)) return To(0);
    const double d = std::trunc(static_cast<double>(v));
    if (d >= 9223372036854775808.0) return static_cast<To>(std::numeric_limits<std::int64_t>::max());
    if (d < -9223372036854775808.0) return static_cast<To>(std::numeric_limits<std::int64_t>::min());
    return static_cast<To>(static_cast<std::int64_t>(d));
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace stax
