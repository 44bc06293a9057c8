// Float32 functions of the prelude against double references, at every width and instruction set, vector, tail and
// scalar.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "math_kernel.h"

namespace stax::codegen {
namespace {

struct Setting {
  int width;
  std::string flags;
};

// The portable path has neither fma nor rounding instructions.
const Setting kSettings[] = {
    {16, "-march=native"}, {32, "-march=native"}, {64, "-march=native"}, {16, "-march=x86-64"}};

std::vector<float> inputs() {
  std::vector<float> x;
  std::mt19937 generator(12345);
  // One random value in each 4096th of the bit patterns.
  for (std::uint64_t base = 0; base < (1ull << 32); base += 4096)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(base + generator() % 4096)));
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float v : {0.0f,        1.0f,
                        0x1p-149f,   0x1.fffffcp-127f,
                        0x1p-126f,   0x1.fffffep127f,
                        inf,         nan,
                        0.5f,        0.625f,
                        0.9f,        3.95f,
                        10.0f,       88.72284f,
                        89.0f,       103.97208f,
                        104.0f,      127.99999f,
                        128.0f,      149.0f,
                        150.0f,      25.0f,
                        0.70710678f, 1.41421356f,
                        0.78539816f, 1.57079637f,
                        3.14159274f, 65536.0f,
                        65536.008f,  0x1.47d0fep34f})
    for (const float s : {v, -v})
      for (const float t : {s, std::nextafter(s, inf), std::nextafter(s, -inf)}) x.push_back(t);
  return x;
}

class MathUlp : public testing::TestWithParam<MathFunction> {};

TEST_P(MathUlp, EveryWidthIsWithinTheBoundAndGivesTheSameBits) {
  const MathFunction& f = GetParam();
  const std::string_view snippets[] = {"loadstore", f.snippet}, names[] = {f.name};
  const std::vector<float> x = inputs();
  std::vector<float> first, y(x.size());
  std::vector<double> reference(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) reference[i] = f.reference(x[i]);
  for (const Setting& s : kSettings) {
    const MathKernel kernel(snippets, map_bodies(names), s.width, s.flags);
    kernel.function<Map1>("map_" + std::string(f.name))(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (const double e = ulp_error(y[i], reference[i]); e > worst) worst = e, at = i;
    EXPECT_LE(worst, f.bound) << f.name << "(" << x[at] << ") = " << y[at] << ", not " << reference[at] << ", width "
                              << s.width << " " << s.flags;
    if (s.flags != "-march=native") continue;
    if (first.empty()) first = y;
    std::size_t differences = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      differences += std::bit_cast<std::uint32_t>(y[i]) != std::bit_cast<std::uint32_t>(first[i]) && !std::isnan(y[i]);
    EXPECT_EQ(differences, 0u) << f.name << " at width " << s.width;
  }
}

TEST_P(MathUlp, TailsAndScalarsGiveTheBitsOfTheMiddle) {
  const MathFunction& f = GetParam();
  const std::string_view snippets[] = {"loadstore", f.snippet}, names[] = {f.name};
  const MathKernel kernel(snippets, map_bodies(names), 64);
  const auto map = kernel.function<Map1>("map_" + std::string(f.name)),
             each = kernel.function<Map1>("each_" + std::string(f.name));
  std::vector<float> x(40), whole(48), y(48);
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> uniform(-4, 4);
  for (float& v : x) v = uniform(generator);
  x.resize(48, 1.0f);
  map(x.data(), whole.data(), 48);
  for (int n = 0; n <= 40; ++n)
    for (const auto call : {map, each}) {
      std::fill(y.begin(), y.end(), 77.0f);
      call(x.data(), y.data(), n);
      for (int i = 0; i < 48; ++i) {
        const float expected = i < n ? whole[i] : 77.0f;
        ASSERT_TRUE(y[i] == expected || (std::isnan(y[i]) && std::isnan(expected)))
            << f.name << " n " << n << " i " << i;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Functions, MathUlp, testing::ValuesIn(math_functions().begin(), math_functions().end()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stax::codegen
