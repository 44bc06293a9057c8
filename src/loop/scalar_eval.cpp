#include "loop/scalar_eval.h"

#include <stax/base/error.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "loop/scalar_functions.h"

namespace stax::loop {
namespace {

template <class R, class T, R (*f)(T)>
bool lanes1(std::size_t n, void* out, const void* a, const void*, const void*) {
  auto* o = static_cast<R*>(out);
  const auto* x = static_cast<const T*>(a);
  for (std::size_t i = 0; i < n; ++i) o[i] = f(x[i]);
  return true;
}

template <class R, class T, R (*f)(T, T)>
bool lanes2(std::size_t n, void* out, const void* a, const void* b, const void*) {
  auto* o = static_cast<R*>(out);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  for (std::size_t i = 0; i < n; ++i) o[i] = f(x[i], y[i]);
  return true;
}

template <class T, T (*f)(T, T)>
bool divisions(std::size_t n, void* out, const void* a, const void* b, const void* c) {
  const auto* y = static_cast<const T*>(b);
  for (std::size_t i = 0; i < n; ++i)
    if (y[i] == T(0)) return false;
  return lanes2<T, T, f>(n, out, a, b, c);
}

template <class T>
bool select_lanes(std::size_t n, void* out, const void* a, const void* b, const void* c) {
  auto* o = static_cast<T*>(out);
  const auto* m = static_cast<const bool*>(a);
  const auto* x = static_cast<const T*>(b);
  const auto* y = static_cast<const T*>(c);
  for (std::size_t i = 0; i < n; ++i) o[i] = m[i] ? x[i] : y[i];
  return true;
}

template <class T>
bool fma_lanes(std::size_t n, void* out, const void* a, const void* b, const void* c) {
  auto* o = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  const auto* z = static_cast<const T*>(c);
  for (std::size_t i = 0; i < n; ++i) o[i] = std::fma(x[i], y[i], z[i]);
  return true;
}

template <class T>
T bit_not_of(T a) {
  if constexpr (kIsBool<T>)
    return !a;
  else
    return static_cast<T>(~a);
}
template <class T>
bool is_nan_of(T a) {
  return std::isnan(a);
}
template <class T>
bool is_inf_of(T a) {
  return std::isinf(a);
}

template <ScalarOp op, class T>
LaneFn division() {
  if constexpr (kIsInt<T>)
    return divisions<T, arithmetic2<op, T>>;
  else
    return lanes2<T, T, arithmetic2<op, T>>;
}

template <class T>
LaneFn number_function(ScalarOp op) {
  using enum ScalarOp;
  switch (op) {
    case neg:
      return lanes1<T, T, arithmetic1<neg, T>>;
    case abs:
      return lanes1<T, T, arithmetic1<abs, T>>;
    case sign:
      return lanes1<T, T, arithmetic1<sign, T>>;
    case floor:
      return lanes1<T, T, arithmetic1<floor, T>>;
    case ceil:
      return lanes1<T, T, arithmetic1<ceil, T>>;
    case round:
      return lanes1<T, T, arithmetic1<round, T>>;
    case trunc:
      return lanes1<T, T, arithmetic1<trunc, T>>;
    case add:
      return lanes2<T, T, arithmetic2<add, T>>;
    case sub:
      return lanes2<T, T, arithmetic2<sub, T>>;
    case mul:
      return lanes2<T, T, arithmetic2<mul, T>>;
    case pow:
      return lanes2<T, T, arithmetic2<pow, T>>;
    case floor_div:
      return division<floor_div, T>();
    case trunc_div:
      return division<trunc_div, T>();
    case floor_mod:
      return division<floor_mod, T>();
    case trunc_mod:
      return division<trunc_mod, T>();
    default:
      return nullptr;
  }
}

template <class T>
LaneFn float_function(ScalarOp op) {
  using enum ScalarOp;
  switch (op) {
    case div:
      return lanes2<T, T, arithmetic2<div, T>>;
    case fma:
      return fma_lanes<T>;
    case exp:
      return lanes1<T, T, function1<exp, T>>;
    case exp2:
      return lanes1<T, T, function1<exp2, T>>;
    case expm1:
      return lanes1<T, T, function1<expm1, T>>;
    case log:
      return lanes1<T, T, function1<log, T>>;
    case log2:
      return lanes1<T, T, function1<log2, T>>;
    case log1p:
      return lanes1<T, T, function1<log1p, T>>;
    case sqrt:
      return lanes1<T, T, function1<sqrt, T>>;
    case rsqrt:
      return lanes1<T, T, function1<rsqrt, T>>;
    case tanh:
      return lanes1<T, T, function1<tanh, T>>;
    case erf:
      return lanes1<T, T, function1<erf, T>>;
    case sigmoid:
      return lanes1<T, T, function1<sigmoid, T>>;
    case sin:
      return lanes1<T, T, function1<sin, T>>;
    case cos:
      return lanes1<T, T, function1<cos, T>>;
    case is_nan:
      return lanes1<bool, T, is_nan_of<T>>;
    case is_inf:
      return lanes1<bool, T, is_inf_of<T>>;
    default:
      return nullptr;
  }
}

template <class T>
LaneFn logic_function(ScalarOp op) {
  using enum ScalarOp;
  switch (op) {
    case bit_and:
      return lanes2<T, T, bitwise<bit_and, T>>;
    case bit_or:
      return lanes2<T, T, bitwise<bit_or, T>>;
    case bit_xor:
      return lanes2<T, T, bitwise<bit_xor, T>>;
    case bit_not:
      return lanes1<T, T, bit_not_of<T>>;
    default:
      return nullptr;
  }
}

template <class T>
LaneFn any_function(ScalarOp op) {
  using enum ScalarOp;
  switch (op) {
    case max:
      return lanes2<T, T, arithmetic2<max, T>>;
    case min:
      return lanes2<T, T, arithmetic2<min, T>>;
    case eq:
      return lanes2<bool, T, compare<eq, T>>;
    case ne:
      return lanes2<bool, T, compare<ne, T>>;
    case lt:
      return lanes2<bool, T, compare<lt, T>>;
    case le:
      return lanes2<bool, T, compare<le, T>>;
    case select:
      return select_lanes<T>;
    default:
      return nullptr;
  }
}

template <class From, class To>
bool cast_lanes(std::size_t n, void* out, const void* a, const void*, const void*) {
  auto* o = static_cast<To*>(out);
  const auto* x = static_cast<const From*>(a);
  for (std::size_t i = 0; i < n; ++i) o[i] = convert<To>(x[i]);
  return true;
}

template <class H>
bool round_lanes(std::size_t n, void* out, const void* a, const void*, const void*) {
  auto* o = static_cast<float*>(out);
  const auto* x = static_cast<const float*>(a);
  for (std::size_t i = 0; i < n; ++i) o[i] = static_cast<float>(H(x[i]));
  return true;
}

}  // namespace

LaneFn lane_function(ScalarOp op, Dtype operand) {
  return visit_dtype(operand, [&](auto zero) -> LaneFn {
    using T = decltype(zero);
    if constexpr (std::is_class_v<T>) {
      return nullptr;
    } else {
      if (LaneFn f = any_function<T>(op)) return f;
      if constexpr (!kIsFloat<T>)
        if (LaneFn f = logic_function<T>(op)) return f;
      if constexpr (!kIsBool<T>)
        if (LaneFn f = number_function<T>(op)) return f;
      if constexpr (kIsFloat<T>) return float_function<T>(op);
      return nullptr;
    }
  });
}

LaneFn cast_function(Dtype from, Dtype to) {
  return visit_dtype(from, [&](auto f) -> LaneFn {
    using From = decltype(f);
    return visit_dtype(to, [&](auto t) -> LaneFn { return cast_lanes<From, decltype(t)>; });
  });
}

LaneFn round_function(Dtype half) {
  return visit_dtype(half, [](auto h) -> LaneFn {
    if constexpr (std::is_class_v<decltype(h)>)
      return round_lanes<decltype(h)>;
    else
      return nullptr;
  });
}

std::uint64_t bits_of_lane(const void* lane, Dtype dtype) {
  return visit_dtype(dtype, [&](auto zero) -> std::uint64_t {
    using T = decltype(zero);
    T v;
    std::memcpy(&v, lane, sizeof v);
    if constexpr (kIsFloat<T> || std::is_class_v<T>) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &v, sizeof v);
      return bits;
    } else {
      return wide(v);
    }
  });
}

void lane_of_bits(std::uint64_t bits, Dtype dtype, void* lane) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kIsBool<T>) {
      *static_cast<bool*>(lane) = bits != 0;
    } else {
      std::memcpy(lane, &bits, sizeof(T));  // little-endian: the low bytes
    }
  });
}

std::uint64_t bits_of_double(double v, Dtype dtype) {
  return visit_dtype(dtype, [&](auto zero) -> std::uint64_t {
    const auto c = convert<decltype(zero)>(v);
    return bits_of_lane(&c, dtype);
  });
}

std::uint64_t bits_of_int(std::int64_t v, Dtype dtype) {
  return visit_dtype(dtype, [&](auto zero) -> std::uint64_t {
    const auto c = convert<decltype(zero)>(v);
    return bits_of_lane(&c, dtype);
  });
}

bool is_exact(ScalarOp op) {
  using enum ScalarOp;
  switch (op) {
    case exp:
    case exp2:
    case expm1:
    case log:
    case log2:
    case log1p:
    case tanh:
    case erf:
    case sigmoid:
    case sin:
    case cos:
      return false;
    default:
      return true;
  }
}

std::optional<std::uint64_t> fold(ScalarOp op, Dtype operand, Dtype result, std::uint64_t a, std::uint64_t b,
                                  std::uint64_t c) {
  if (!is_exact(op) || (op == ScalarOp::pow && is_floating(operand))) return std::nullopt;
  const LaneFn f = op == ScalarOp::cast ? cast_function(operand, result) : lane_function(op, operand);
  if (!f) return std::nullopt;
  alignas(8) char lanes[3][8] = {}, out[8] = {};
  lane_of_bits(a, op == ScalarOp::select ? Dtype::boolean : operand, lanes[0]);
  lane_of_bits(b, operand, lanes[1]);
  lane_of_bits(c, operand, lanes[2]);
  if (!f(1, out, lanes[0], lanes[1], lanes[2])) return std::nullopt;
  return bits_of_lane(out, result);
}

}  // namespace stax::loop
