// Integer division, remainder and power of the prelude, on vectors and scalars of every integer type.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "math_kernel.h"

namespace stax::codegen {
namespace {

constexpr std::string_view kBody = R"(
#define FORMS(T, f)                                                                                                     \
  extern "C" void f##_##T(const T* a, const T* b, T* y, i64 n) {                                                        \
    for (i64 i = 0; i < n; i += v::L) v::store(y + i, v::f(v::load(a + i), v::load(b + i)));                            \
  }                                                                                                                     \
  extern "C" void f##_##T##_each(const T* a, const T* b, T* y, i64 n) { for (i64 i = 0; i < n; i++) y[i] = v::f(a[i], b[i]); }
#define ALL(T) FORMS(T, floor_div) FORMS(T, trunc_div) FORMS(T, floor_mod) FORMS(T, trunc_mod) FORMS(T, int_pow) \
  extern "C" int zero_##T(const T* a) { return v::any_zero(v::load(a)); }
ALL(i8) ALL(u8) ALL(i16) ALL(i32) ALL(i64)
)";

struct Expected {
  std::int64_t floor_div, trunc_div, floor_mod, trunc_mod;
};

// In 128 bits, where MIN / -1 does not overflow.
template <class T>
Expected divide(T a, T b) {
  if (b == 0) return {0, 0, a, a};
  __extension__ using Wide = __int128;
  const Wide x = a, y = b, q = x / y, m = x % y;
  const bool other = m != 0 && (m < 0) != (y < 0);
  return {static_cast<T>(q - other), static_cast<T>(q), static_cast<T>(other ? m + y : m), static_cast<T>(m)};
}

template <class T>
T power(T x, T n) {
  if (n < 0) return x == 1 ? T(1) : x == T(-1) ? (n % 2 == 0 ? T(1) : T(-1)) : T(0);
  std::uint64_t r = 1;
  for (T i = 0; i < n; ++i) r *= static_cast<std::uint64_t>(x);
  return static_cast<T>(r);
}

template <class T>
void check(const MathKernel& kernel, const std::string& type) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> a, b;
  if constexpr (sizeof(T) == 1) {
    for (int x = Limits::min(); x <= Limits::max(); ++x)
      for (int y = Limits::min(); y <= Limits::max(); ++y)
        a.push_back(static_cast<T>(x)), b.push_back(static_cast<T>(y));
  } else {
    std::mt19937_64 generator(11);
    for (int i = 0; i < 200000; ++i) {
      const auto pick = [&] { return static_cast<T>(static_cast<T>(generator()) >> generator() % (8 * sizeof(T))); };
      a.push_back(pick()), b.push_back(pick());
    }
    for (const T x :
         {Limits::min(), Limits::max(), T(0), T(1), T(-1), T(7), T(-7), T(Limits::max() - 1), T(Limits::min() + 1)})
      for (const T y : {Limits::min(), Limits::max(), T(0), T(1), T(-1), T(2), T(-2), T(3), T(Limits::max() - 1)})
        a.push_back(x), b.push_back(y);
    while (a.size() % 16 != 0) a.push_back(1), b.push_back(1);
  }
  const auto n = static_cast<std::int64_t>(a.size());
  using Call = void(const T*, const T*, T*, std::int64_t);
  for (const std::string form : {"", "_each"}) {
    std::vector<T> fd(n), td(n), fm(n), tm(n);
    kernel.function<Call>("floor_div_" + type + form)(a.data(), b.data(), fd.data(), n);
    kernel.function<Call>("trunc_div_" + type + form)(a.data(), b.data(), td.data(), n);
    kernel.function<Call>("floor_mod_" + type + form)(a.data(), b.data(), fm.data(), n);
    kernel.function<Call>("trunc_mod_" + type + form)(a.data(), b.data(), tm.data(), n);
    for (std::int64_t i = 0; i < n; ++i) {
      if (b[i] == 0) {  // the caller raises; only the absence of a trap counts
        continue;
      }
      const Expected e = divide(a[i], b[i]);
      const auto what = type + form + " " + std::to_string(a[i]) + " by " + std::to_string(b[i]);
      ASSERT_EQ(fd[i], static_cast<T>(e.floor_div)) << what;
      ASSERT_EQ(td[i], static_cast<T>(e.trunc_div)) << what;
      ASSERT_EQ(fm[i], static_cast<T>(e.floor_mod)) << what;
      ASSERT_EQ(tm[i], static_cast<T>(e.trunc_mod)) << what;
    }
    for (T& v : b) v = static_cast<T>(v % 40);
    std::vector<T> p(n);
    kernel.function<Call>("int_pow_" + type + form)(a.data(), b.data(), p.data(), n);
    for (std::int64_t i = 0; i < n; ++i)
      ASSERT_EQ(p[i], power(a[i], b[i])) << type << form << " " << +a[i] << " ^ " << +b[i];
  }
  const auto zero = kernel.function<int(const T*)>("zero_" + type);
  std::vector<T> ones(16, 1);
  EXPECT_EQ(zero(ones.data()), 0);
  ones[3] = 0;
  EXPECT_EQ(zero(ones.data()), 1);
}

TEST(KernelIntegers, DivisionAndPower) {
  const std::string_view snippets[] = {"loadstore", "intdiv"};
  for (const auto& [width, flags] :
       {std::pair{16, "-march=x86-64"}, {16, "-march=native"}, {32, "-march=native"}, {64, "-march=native"}}) {
    const MathKernel kernel(snippets, kBody, width, flags);
    check<std::int8_t>(kernel, "i8");
    check<std::uint8_t>(kernel, "u8");
    check<std::int16_t>(kernel, "i16");
    check<std::int32_t>(kernel, "i32");
    check<std::int64_t>(kernel, "i64");
  }
}

}  // namespace
}  // namespace stax::codegen
