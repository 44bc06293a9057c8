// Power, float remainders and quotients, rounding, square root and sign of the prelude, float32 and float64.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "math_kernel.h"

namespace stax::codegen {
namespace {

constexpr std::string_view kBody = R"(
#define TWO(T, f) extern "C" void f##_##T(const T* a, const T* b, T* y, i64 n) {                        \
    for (i64 i = 0; i < n; i += v::L) v::store(y + i, v::f(v::load(a + i), v::load(b + i))); }
#define ONE(T, f) extern "C" void f##_##T(const T* a, const T*, T* y, i64 n) {                          \
    for (i64 i = 0; i < n; i += v::L) v::store(y + i, v::f(v::load(a + i))); }
#define ALL(T) TWO(T, pow) TWO(T, trunc_mod) TWO(T, floor_mod) TWO(T, trunc_div) TWO(T, floor_div) TWO(T, max) TWO(T, min) \
  TWO(T, copysign) ONE(T, floor) ONE(T, ceil) ONE(T, round) ONE(T, trunc) ONE(T, sqrt) ONE(T, rsqrt) ONE(T, abs) ONE(T, sign) \
  ONE(T, exp) ONE(T, log) ONE(T, tanh) ONE(T, erf) ONE(T, sigmoid) ONE(T, sin) ONE(T, cos) ONE(T, exp2) ONE(T, expm1)        \
  ONE(T, log2) ONE(T, log1p)
ALL(f32) ALL(f64)
extern "C" void fma_f32(const f32* a, const f32* b, f32* y, i64 n) {
  for (i64 i = 0; i < n; i += v::L) v::store(y + i, v::fma(v::load(a + i), v::load(b + i), v::load(y + i)));
}
)";

MathKernel build(int width, std::string_view flags) {
  const std::string_view snippets[] = {"loadstore", "pow",     "fmod", "round", "sqrt", "arith", "exp",  "log",
                                       "tanh",      "sigmoid", "erf",  "trig",  "exp2", "expm1", "log2", "log1p"};
  return {snippets, kBody, width, flags};
}

template <class T>
struct Pairs {
  std::vector<T> a, b;
};

// Random pairs of many magnitudes and all pairs of special values.
template <class T>
Pairs<T> pairs() {
  using Limits = std::numeric_limits<T>;
  Pairs<T> p;
  std::mt19937_64 generator(5);
  std::uniform_real_distribution<double> exponent(-30, 30), mantissa(1, 2);
  const auto pick = [&] {
    return static_cast<T>((generator() & 1 ? 1 : -1) * std::exp2(exponent(generator)) * mantissa(generator));
  };
  for (int i = 0; i < 40000; ++i) p.a.push_back(pick()), p.b.push_back(pick());
  for (int i = 0; i < 20000; ++i) {  // small integers and halves: exact quotients, odd and even powers
    p.a.push_back(static_cast<T>(static_cast<int>(generator() % 200) - 100) / 2);
    p.b.push_back(static_cast<T>(static_cast<int>(generator() % 40) - 20) / 2);
  }
  const T special[] = {0,
                       1,
                       2,
                       T(0.5),
                       3,
                       T(1.5),
                       T(16777215),
                       T(16777216),
                       T(0x1p30),
                       Limits::min(),
                       Limits::denorm_min(),
                       Limits::max(),
                       Limits::infinity(),
                       Limits::quiet_NaN(),
                       std::nextafter(T(1), T(2)),
                       std::nextafter(T(1), T(0))};
  for (const T x : special)
    for (const T y : special)
      for (const T s : {x, -x})
        for (const T t : {y, -y}) p.a.push_back(s), p.b.push_back(t);
  while (p.a.size() % 16 != 0) p.a.push_back(1), p.b.push_back(1);
  return p;
}

template <class T>
std::vector<T> run(const MathKernel& kernel, const std::string& name, const Pairs<T>& p) {
  std::vector<T> y(p.a.size());
  const auto call =
      kernel.function<void(const T*, const T*, T*, std::int64_t)>(name + (sizeof(T) == 4 ? "_f32" : "_f64"));
  call(p.a.data(), p.b.data(), y.data(), static_cast<std::int64_t>(y.size()));
  return y;
}

template <class T>
bool same(T x, T y) {
  return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}

template <class T, class F>
void expect_exact(const MathKernel& kernel, const std::string& name, const Pairs<T>& p, F&& reference) {
  const std::vector<T> y = run(kernel, name, p);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const T expected = reference(p.a[i], p.b[i]);
    ASSERT_TRUE(same(y[i], expected)) << name << "(" << p.a[i] << ", " << p.b[i] << ") = " << y[i] << ", not "
                                      << expected;
  }
}

template <class T>
T floor_mod(T a, T b) {
  const T m = std::fmod(a, b);
  return m != 0 && ((b < 0) != (m < 0)) ? m + b : m;
}
template <class T>
T floor_div(T a, T b) {
  if (b == 0) return a / b;
  const T m = std::fmod(a, b);
  T q = (a - m) / b;
  if (m != 0 && ((b < 0) != (m < 0))) q -= 1;
  if (q == 0) return std::copysign(T(0), a / b);
  const T f = std::floor(q);
  return q - f > T(0.5) ? f + 1 : f;
}
template <class T>
T extremum(T a, T b, bool largest) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) == largest ? b : a;
  return (a > b) == largest ? a : b;
}

template <class T>
void check_exact(const MathKernel& kernel) {
  const Pairs<T> p = pairs<T>();
  expect_exact(kernel, "trunc_mod", p, [](T a, T b) { return std::fmod(a, b); });
  expect_exact(kernel, "floor_mod", p, floor_mod<T>);
  expect_exact(kernel, "floor_div", p, floor_div<T>);
  expect_exact(kernel, "trunc_div", p, [](T a, T b) { return std::trunc(a / b); });
  expect_exact(kernel, "max", p, [](T a, T b) { return extremum(a, b, true); });
  expect_exact(kernel, "min", p, [](T a, T b) { return extremum(a, b, false); });
  expect_exact(kernel, "copysign", p, [](T a, T b) { return std::copysign(a, b); });
  expect_exact(kernel, "floor", p, [](T a, T) { return std::floor(a); });
  expect_exact(kernel, "ceil", p, [](T a, T) { return std::ceil(a); });
  expect_exact(kernel, "round", p, [](T a, T) { return std::nearbyint(a); });
  expect_exact(kernel, "trunc", p, [](T a, T) { return std::trunc(a); });
  expect_exact(kernel, "sqrt", p, [](T a, T) { return std::sqrt(a); });
  expect_exact(kernel, "rsqrt", p, [](T a, T) { return 1 / std::sqrt(a); });
  expect_exact(kernel, "abs", p, [](T a, T) { return std::fabs(a); });
  expect_exact(kernel, "sign", p, [](T a, T) { return std::isnan(a) ? a : T((a > 0) - (a < 0)); });
}

const std::pair<int, const char*> kSettings[] = {
    {16, "-march=x86-64"}, {16, "-march=native"}, {32, "-march=native"}, {64, "-march=native"}};

TEST(KernelFloats, ExactOperations) {
  for (const auto& [width, flags] : kSettings) {
    const MathKernel kernel = build(width, flags);
    check_exact<float>(kernel);
    check_exact<double>(kernel);
  }
}

TEST(KernelFloats, PowerIsWithinFourUlp) {
  const Pairs<float> p = pairs<float>();
  const Pairs<double> q = pairs<double>();
  for (const auto& [width, flags] : kSettings) {
    const MathKernel kernel = build(width, flags);
    const std::vector<float> y = run(kernel, "pow", p);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double expected = std::pow(static_cast<double>(p.a[i]), static_cast<double>(p.b[i]));
      ASSERT_LE(ulp_error(y[i], expected), 4) << p.a[i] << " ^ " << p.b[i] << " = " << y[i] << ", not " << expected;
    }
    expect_exact(kernel, "pow", q, [](double a, double b) { return std::pow(a, b); });
  }
}

TEST(KernelFloats, FusedMultiplyAddRoundsOnce) {
  for (const auto& [width, flags] : kSettings) {
    const MathKernel kernel = build(width, flags);
    const Pairs<float> p = pairs<float>();
    std::vector<float> y(p.a.size());
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = -p.a[i] * p.b[i];
    std::vector<float> expected(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) expected[i] = std::fma(p.a[i], p.b[i], y[i]);
    kernel.function<void(const float*, const float*, float*, std::int64_t)>("fma_f32")(
        p.a.data(), p.b.data(), y.data(), static_cast<std::int64_t>(y.size()));
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_TRUE(same(y[i], expected[i])) << p.a[i] << " " << p.b[i];
  }
}

TEST(KernelFloats, Float64FunctionsAreThoseOfTheLibrary) {
  const MathKernel kernel = build(64, "-march=native");
  const Pairs<double> p = pairs<double>();
  for (const MathFunction& f : math_functions())
    expect_exact(kernel, std::string(f.name), p, [&](double a, double) {
      if (f.name == "sigmoid") return a < 0 ? std::exp(a) / (1 + std::exp(a)) : 1 / (1 + std::exp(-a));
      return f.reference(a);
    });
}

}  // namespace
}  // namespace stax::codegen
