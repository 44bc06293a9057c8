// 64-bit arithmetic that throws when the exact result does not fit.
#pragma once
#include <cstdint>
#include <numeric>

namespace stax::symbolic {

__extension__ using Int128 = __int128;

// Throws UserError: the integer expression leaves 64 bits.
[[noreturn]] void throw_overflow(const char* operation, std::int64_t a, std::int64_t b);

inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_add_overflow(a, b, &r)) [[unlikely]]
    throw_overflow("+", a, b);
  return r;
}
inline std::int64_t checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) [[unlikely]]
    throw_overflow("-", a, b);
  return r;
}
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) [[unlikely]]
    throw_overflow("*", a, b);
  return r;
}
inline std::int64_t checked_neg(std::int64_t a) { return checked_sub(0, a); }

// Divisions on any signed integer type; b != 0. The widest type keeps INT64_MIN / -1 exact.
template <class T>
T floordiv_of(T a, T b) {
  T q = a / b;
  return (a % b != 0 && ((a % b < 0) != (b < 0))) ? q - 1 : q;
}
template <class T>
T floormod_of(T a, T b) {
  T r = a % b;
  return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}
template <class T>
T ceildiv_of(T a, T b) {
  T q = a / b;
  return (a % b != 0 && ((a % b < 0) == (b < 0))) ? q + 1 : q;
}

// Non-negative greatest common divisor; gcd(0, x) = |x|. |INT64_MIN| saturates to 2^62, which divides it.
inline std::int64_t gcd_of(std::int64_t a, std::int64_t b) {
  if (a == INT64_MIN) a = std::int64_t{1} << 62;
  if (b == INT64_MIN) b = std::int64_t{1} << 62;
  return std::gcd(a, b);
}

}  // namespace stax::symbolic
