// Scalar operations on C++ values, by operation and type; scalar_eval.cpp makes lane functions of them.
#pragma once
#include <cmath>

#include "loop/scalar_math.h"
#include "loop/scalar_ops.h"

namespace stax::loop {

// Division by zero is excluded by the caller.
template <class T>
T int_trunc_div(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return static_cast<T>(0 - wide(a));
  return static_cast<T>(a / b);
}
template <class T>
T int_trunc_mod(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return T(0);
  return static_cast<T>(a % b);
}
template <class T>
T int_floor_div(T a, T b) {
  const T q = int_trunc_div(a, b);
  const T m = int_trunc_mod(a, b);
  return m != 0 && ((m < 0) != (b < 0)) ? static_cast<T>(q - 1) : q;
}
template <class T>
T int_floor_mod(T a, T b) {
  const T m = int_trunc_mod(a, b);
  return m != 0 && ((m < 0) != (b < 0)) ? static_cast<T>(m + b) : m;
}

template <class T>
T float_floor_mod(T a, T b) {
  const T m = std::fmod(a, b);
  return m != 0 && ((b < 0) != (m < 0)) ? m + b : m;
}
// Floor of the exact quotient, within rounding: from the remainder, not from the rounded quotient.
template <class T>
T float_floor_div(T a, T b) {
  if (b == 0) return a / b;
  const T m = std::fmod(a, b);
  T q = (a - m) / b;
  if (m != 0 && ((b < 0) != (m < 0))) q -= 1;
  if (q == 0) return std::copysign(T(0), a / b);
  T f = std::floor(q);
  if (q - f > T(0.5)) f += 1;
  return f;
}

template <class T>
T int_pow(T base, T exponent) {
  if (exponent < 0) {
    if (base == T(1)) return 1;
    if (base == static_cast<T>(-1)) return exponent % 2 == 0 ? T(1) : static_cast<T>(-1);
    return 0;
  }
  std::uint64_t result = 1, square = wide(base);
  for (std::uint64_t e = wide(exponent); e != 0; e >>= 1, square *= square)
    if (e & 1) result *= square;
  return static_cast<T>(result);
}

// f32 functions are evaluated in double and rounded once.
template <class T, class F>
T by_double(T x, F&& f) {
  return static_cast<T>(f(static_cast<double>(x)));
}

template <class T>
T sign_of(T x) {
  if constexpr (kIsFloat<T>) {
    if (std::isnan(x)) return x;
    return x > 0 ? T(1) : x < 0 ? T(-1) : T(0);
  } else {
    return static_cast<T>((x > 0) - (x < 0));
  }
}

template <ScalarOp op, class T>
T arithmetic1(T x) {
  if constexpr (op == ScalarOp::neg) {
    if constexpr (kIsFloat<T>)
      return -x;
    else
      return static_cast<T>(0 - wide(x));
  } else if constexpr (op == ScalarOp::abs) {
    if constexpr (kIsFloat<T>)
      return std::fabs(x);
    else
      return x < 0 ? static_cast<T>(0 - wide(x)) : x;
  } else if constexpr (op == ScalarOp::sign) {
    return sign_of(x);
  } else if constexpr (kIsInt<T>) {
    return x;  // floor, ceil, round, trunc
  } else if constexpr (op == ScalarOp::floor) {
    return std::floor(x);
  } else if constexpr (op == ScalarOp::ceil) {
    return std::ceil(x);
  } else if constexpr (op == ScalarOp::round) {
    return std::nearbyint(x);
  } else {
    static_assert(op == ScalarOp::trunc);
    return std::trunc(x);
  }
}

template <ScalarOp op, class T>
T function1(T x) {
  if constexpr (op == ScalarOp::sqrt)
    return std::sqrt(x);
  else if constexpr (op == ScalarOp::rsqrt)
    return T(1) / std::sqrt(x);
  else if constexpr (op == ScalarOp::exp)
    return by_double(x, [](double v) { return std::exp(v); });
  else if constexpr (op == ScalarOp::exp2)
    return by_double(x, [](double v) { return std::exp2(v); });
  else if constexpr (op == ScalarOp::expm1)
    return by_double(x, [](double v) { return std::expm1(v); });
  else if constexpr (op == ScalarOp::log)
    return by_double(x, [](double v) { return std::log(v); });
  else if constexpr (op == ScalarOp::log2)
    return by_double(x, [](double v) { return std::log2(v); });
  else if constexpr (op == ScalarOp::log1p)
    return by_double(x, [](double v) { return std::log1p(v); });
  else if constexpr (op == ScalarOp::tanh)
    return by_double(x, [](double v) { return std::tanh(v); });
  else if constexpr (op == ScalarOp::erf)
    return by_double(x, [](double v) { return std::erf(v); });
  else if constexpr (op == ScalarOp::sigmoid)
    return by_double(x, [](double v) { return 1 / (1 + std::exp(-v)); });
  else if constexpr (op == ScalarOp::sin)
    return by_double(x, [](double v) { return std::sin(v); });
  else {
    static_assert(op == ScalarOp::cos);
    return by_double(x, [](double v) { return std::cos(v); });
  }
}

template <ScalarOp op, class T>
T arithmetic2(T a, T b) {
  if constexpr (op == ScalarOp::max)
    return max_of(a, b);
  else if constexpr (op == ScalarOp::min)
    return min_of(a, b);
  else if constexpr (op == ScalarOp::div)
    return a / b;
  else if constexpr (kIsFloat<T>) {
    if constexpr (op == ScalarOp::add)
      return a + b;
    else if constexpr (op == ScalarOp::sub)
      return a - b;
    else if constexpr (op == ScalarOp::mul)
      return a * b;
    else if constexpr (op == ScalarOp::floor_div)
      return float_floor_div(a, b);
    else if constexpr (op == ScalarOp::trunc_div)
      return std::trunc(a / b);
    else if constexpr (op == ScalarOp::floor_mod)
      return float_floor_mod(a, b);
    else if constexpr (op == ScalarOp::trunc_mod)
      return std::fmod(a, b);
    else
      return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
  } else {
    if constexpr (op == ScalarOp::add)
      return static_cast<T>(wide(a) + wide(b));
    else if constexpr (op == ScalarOp::sub)
      return static_cast<T>(wide(a) - wide(b));
    else if constexpr (op == ScalarOp::mul)
      return static_cast<T>(wide(a) * wide(b));
    else if constexpr (op == ScalarOp::floor_div)
      return int_floor_div(a, b);
    else if constexpr (op == ScalarOp::trunc_div)
      return int_trunc_div(a, b);
    else if constexpr (op == ScalarOp::floor_mod)
      return int_floor_mod(a, b);
    else if constexpr (op == ScalarOp::trunc_mod)
      return int_trunc_mod(a, b);
    else
      return int_pow(a, b);
  }
}

template <ScalarOp op, class T>
bool compare(T a, T b) {
  if constexpr (op == ScalarOp::eq)
    return a == b;
  else if constexpr (op == ScalarOp::ne)
    return a != b;
  else if constexpr (op == ScalarOp::lt)
    return a < b;
  else
    return a <= b;
}

template <ScalarOp op, class T>
T bitwise(T a, T b) {
  if constexpr (op == ScalarOp::bit_and)
    return static_cast<T>(a & b);
  else if constexpr (op == ScalarOp::bit_or)
    return static_cast<T>(a | b);
  else
    return static_cast<T>(a ^ b);
}

}  // namespace stax::loop
