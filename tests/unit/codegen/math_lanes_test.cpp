// Comparison, selection, conversion, reduction over lanes, arg-reduction and transposition of the prelude.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "math_kernel.h"

namespace stax::codegen {
namespace {

const std::pair<int, const char*> kSettings[] = {{16, "-march=x86-64"},
                                                 {32, "-march=x86-64-v3"},
                                                 {16, "-march=native"},
                                                 {32, "-march=native"},
                                                 {64, "-march=native"}};

TEST(KernelLanes, ComparisonsAndSelections) {
  const std::string_view snippets[] = {"loadstore", "arith"};
  constexpr std::string_view kBody = R"(
#define CMP(T, f) extern "C" void f##_##T(const T* a, const T* b, b8* m, T* y) { \
    boolv c = v::f(v::load(a), v::load(b)); v::store(m, c); v::store(y, v::select(c, v::load(a), v::load(b))); }
#define ALL(T) CMP(T, lt) CMP(T, le) CMP(T, gt) CMP(T, ge) CMP(T, eq) CMP(T, ne)
ALL(f32) ALL(f64) ALL(i8) ALL(u8) ALL(i16) ALL(i32) ALL(i64)
extern "C" int any_of(const b8* m) { return v::any(v::load(m)); }
extern "C" int all_of(const b8* m) { return v::all(v::load(m)); }
)";
  for (const auto& [width, flags] : kSettings) {
    const MathKernel kernel(snippets, kBody, width, flags);
    const int lanes = width / 4;
    const auto check = [&]<class T>(T, const std::string& type) {
      std::mt19937 generator(2);
      for (int round = 0; round < 50; ++round) {
        T a[16], b[16], y[16];
        for (int i = 0; i < 16; ++i) {
          const auto pick = [&] {
            const int k = static_cast<int>(generator() % 5);
            if constexpr (std::is_floating_point_v<T>)
              if (k == 4) return std::numeric_limits<T>::quiet_NaN();
            return k == 3 ? std::numeric_limits<T>::min() : k == 2 ? std::numeric_limits<T>::max() : static_cast<T>(k);
          };
          a[i] = pick(), b[i] = pick();
        }
        const auto one = [&](const char* name, auto&& reference) {
          bool m[16];
          kernel.function<void(const T*, const T*, bool*, T*)>(std::string(name) + "_" + type)(a, b, m, y);
          for (int i = 0; i < lanes; ++i) {
            ASSERT_EQ(m[i], reference(a[i], b[i])) << name << type << +a[i] << " " << +b[i] << " " << width;
            const T e = m[i] ? a[i] : b[i];
            ASSERT_TRUE(y[i] == e || (y[i] != y[i] && e != e)) << name << type;
          }
        };
        one("lt", [](T x, T z) { return x < z; });
        one("le", [](T x, T z) { return x <= z; });
        one("gt", [](T x, T z) { return x > z; });
        one("ge", [](T x, T z) { return x >= z; });
        one("eq", [](T x, T z) { return x == z; });
        one("ne", [](T x, T z) { return x != z; });
      }
    };
    check(0.0f, "f32"), check(0.0, "f64"), check(std::int8_t(), "i8"), check(std::uint8_t(), "u8"),
        check(std::int16_t(), "i16");
    check(std::int32_t(), "i32"), check(std::int64_t(), "i64");
    for (int at = 0; at <= lanes; ++at) {
      bool one[16] = {}, zero[16];
      std::fill(zero, zero + 16, true);
      if (at < lanes) one[at] = true, zero[at] = false;
      EXPECT_EQ(kernel.function<int(const bool*)>("any_of")(one), at < lanes);
      EXPECT_EQ(kernel.function<int(const bool*)>("all_of")(zero), at == lanes);
    }
  }
}

// The rule of the loop IR: to 64 bits with saturation, NaN to 0, then wrap.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(x)) return 0;
    if (x >= static_cast<From>(0x1p63)) return static_cast<To>(std::numeric_limits<std::int64_t>::max());
    if (x < static_cast<From>(-0x1p63)) return static_cast<To>(std::numeric_limits<std::int64_t>::min());
    return static_cast<To>(static_cast<std::int64_t>(x));
  } else {
    return static_cast<To>(x);
  }
}

TEST(KernelLanes, ConversionsBetweenAllTypes) {
  const std::string_view snippets[] = {"loadstore"};
  constexpr std::string_view kBody = R"(
#define CVT(A, B) extern "C" void A##_##B(const A* x, B* y) { v::store(y, v::cvt<B>(v::load(x))); }
#define FROM(A) CVT(A, f32) CVT(A, f64) CVT(A, i8) CVT(A, u8) CVT(A, i16) CVT(A, i32) CVT(A, i64) CVT(A, b8)
FROM(f32) FROM(f64) FROM(i8) FROM(u8) FROM(i16) FROM(i32) FROM(i64)
#define BOOL(B) extern "C" void b8_##B(const b8* x, B* y) { v::store(y, v::from_bool<B>(v::load(x))); }
BOOL(f32) BOOL(f64) BOOL(i8) BOOL(u8) BOOL(i16) BOOL(i32) BOOL(i64)
)";
  for (const auto& [width, flags] : kSettings) {
    const MathKernel kernel(snippets, kBody, width, flags);
    const int lanes = width / 4;
    const auto one = [&]<class A, class B>(A, B, const std::string& a, const std::string& b) {
      std::mt19937_64 generator(4);
      for (int round = 0; round < 60; ++round) {
        A x[16];
        B y[16];
        for (A& v : x) {
          if constexpr (std::is_same_v<A, bool>) {
            v = generator() % 2 == 0;
          } else if constexpr (std::is_floating_point_v<A>) {
            const double values[] = {NAN,   INFINITY, -INFINITY, 3e9, -3e9, 1e19,         -1e19,
                                     255.9, -1.5,     300.25,    0.4, -0.0, 2147483647.0, -2147483648.0};
            v = static_cast<A>(round < 20 ? static_cast<double>(static_cast<int>(generator() % 400) - 200) / 3
                                          : values[generator() % 14]);
          } else {
            v = static_cast<A>(static_cast<A>(generator()) >> generator() % (8 * sizeof(A)));
          }
        }
        kernel.function<void(const A*, B*)>(a + "_" + b)(x, y);
        for (int i = 0; i < lanes; ++i) {
          const B e = convert<B>(x[i]);
          ASSERT_TRUE(y[i] == e || (y[i] != y[i] && e != e))
              << a << " to " << b << ": " << +x[i] << " gives " << +y[i] << " " << width << flags;
        }
      }
    };
    const auto from = [&]<class A>(A v, const std::string& a) {
      one(v, 0.0f, a, "f32"), one(v, 0.0, a, "f64"), one(v, std::int8_t(), a, "i8"), one(v, std::uint8_t(), a, "u8");
      one(v, std::int16_t(), a, "i16"), one(v, std::int32_t(), a, "i32"), one(v, std::int64_t(), a, "i64");
      if constexpr (!std::is_same_v<A, bool>) one(v, false, a, "b8");
    };
    from(0.0f, "f32"), from(0.0, "f64"), from(std::int8_t(), "i8"), from(std::uint8_t(), "u8"),
        from(std::int16_t(), "i16");
    from(std::int32_t(), "i32"), from(std::int64_t(), "i64"), from(false, "b8");
  }
}

TEST(KernelLanes, ReductionsUseTheStatedTree) {
  const std::string_view snippets[] = {"loadstore", "reduce"};
  constexpr std::string_view kBody = R"(
#define RED(T) extern "C" void red_##T(const T* x, T* y) { auto a = v::load(x); y[0] = v::hsum(a), y[1] = v::hprod(a), y[2] = v::hmax(a), y[3] = v::hmin(a); }
RED(f32) RED(f64) RED(i32) RED(i64) RED(i8)
)";
  for (const auto& [width, flags] : kSettings) {
    const MathKernel kernel(snippets, kBody, width, flags);
    const int lanes = width / 4;
    const auto check = [&]<class T>(T, const std::string& type) {
      std::mt19937 generator(8);
      for (int round = 0; round < 40; ++round) {
        T x[16], y[4], sum[16], product[16];
        for (T& v : x)
          v = static_cast<T>(static_cast<int>(generator() % 2000) - 1000) / T(std::is_floating_point_v<T> ? 7 : 1);
        if constexpr (std::is_floating_point_v<T>)
          if (round >= 30) x[generator() % lanes] = std::numeric_limits<T>::quiet_NaN();
        T largest = x[0], smallest = x[0];
        bool nan = false;
        for (int i = 0; i < lanes; ++i) {
          nan = nan || x[i] != x[i];
          largest = std::max(largest, x[i]), smallest = std::min(smallest, x[i]);
          sum[i] = product[i] = x[i];
        }
        for (int half = lanes / 2; half > 0; half /= 2)
          for (int i = 0; i < half; ++i)
            sum[i] = static_cast<T>(sum[i] + sum[i + half]),
            product[i] =
                static_cast<T>(product[i] * static_cast<std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>>(
                                                product[i + half]));
        kernel.function<void(const T*, T*)>("red_" + type)(x, y);
        if (nan) {
          for (const T v : y) EXPECT_TRUE(v != v);
        } else {
          EXPECT_EQ(y[0], sum[0]) << type << width;
          EXPECT_EQ(y[1], product[0]) << type << width;
          EXPECT_EQ(y[2], largest) << type << width;
          EXPECT_EQ(y[3], smallest) << type << width;
        }
      }
    };
    check(0.0f, "f32"), check(0.0, "f64"), check(std::int32_t(), "i32"), check(std::int64_t(), "i64"),
        check(std::int8_t(), "i8");
  }
}

TEST(KernelLanes, ArgReductionsGiveTheFirst) {
  const std::string_view snippets[] = {"loadstore", "reduce"};
  constexpr std::string_view kBody = R"(
#define ARG(T, f, low) extern "C" i64 f##_##T(const T* x, i64 n) {                                        \
    vec<T> best = v::splat<T>(low); i64v index = v::splat<i64>(0x7fffffffffffffff);                       \
    i64 i = 0;                                                                                            \
    for (; i + v::L <= n; i += v::L) v::f##_update(best, index, v::load(x + i), v::iota<i64>() + i);      \
    T value = low; i64 at = 0x7fffffffffffffff;                                                           \
    if (i) v::f##_lanes(best, index, v::L, value, at);                                                    \
    for (; i < n; i++) v::f##_merge(value, at, x[i], i);                                                  \
    return at; }
using v::vec;
ARG(f32, argmax, -__builtin_inff()) ARG(f32, argmin, __builtin_inff()) ARG(i64, argmax, (i64)0x8000000000000000)
ARG(i16, argmin, 0x7fff) ARG(f64, argmax, -__builtin_inf())
)";
  for (const auto& [width, flags] : kSettings) {
    const MathKernel kernel(snippets, kBody, width, flags);
    std::mt19937 generator(6);
    const auto check = [&]<class T>(T, const std::string& name, bool largest) {
      const auto f = kernel.function<std::int64_t(const T*, std::int64_t)>(name);
      for (int round = 0; round < 300; ++round) {
        std::vector<T> x(1 + generator() % 70);
        for (T& v : x) v = static_cast<T>(generator() % 6);
        if constexpr (std::is_floating_point_v<T>)
          for (int k = round % 3; k > 0; --k) x[generator() % x.size()] = std::numeric_limits<T>::quiet_NaN();
        std::size_t best = 0;
        for (std::size_t i = 1; i < x.size(); ++i)
          if (x[best] == x[best] && (x[i] != x[i] || (largest ? x[i] > x[best] : x[i] < x[best]))) best = i;
        ASSERT_EQ(f(x.data(), static_cast<std::int64_t>(x.size())), static_cast<std::int64_t>(best))
            << name << " " << width;
      }
    };
    check(0.0f, "argmax_f32", true), check(0.0f, "argmin_f32", false), check(std::int64_t(), "argmax_i64", true);
    check(std::int16_t(), "argmin_i16", false), check(0.0, "argmax_f64", true);
  }
}

TEST(KernelLanes, TransposesSquares) {
  const std::string_view snippets[] = {"loadstore", "transpose"};
  constexpr std::string_view kBody = R"(
extern "C" void transposed(const i32* x, i32* y) {
  i32v m[v::L];
  for (int i = 0; i < v::L; i++) m[i] = v::load(x + i * v::L);
  v::transpose(m);
  for (int i = 0; i < v::L; i++) v::store(y + i * v::L, m[i]);
}
)";
  for (const auto& [width, flags] : kSettings) {
    const MathKernel kernel(snippets, kBody, width, flags);
    const int n = width / 4;
    std::vector<int> x(n * n), y(n * n);
    for (int i = 0; i < n * n; ++i) x[i] = i;
    kernel.function<void(const int*, int*)>("transposed")(x.data(), y.data());
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) ASSERT_EQ(y[i * n + j], x[j * n + i]) << width << flags;
  }
}

}  // namespace
}  // namespace stax::codegen
