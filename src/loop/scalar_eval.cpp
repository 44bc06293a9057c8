#include "loop/scalar_eval.h"

#include <stax/base/error.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "loop/scalar_math.h"

namespace stax::loop {
namespace {

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
