// Loads and stores of the prelude: parts touch no other byte (pages without access on both sides), strides, gathers,
// half types, streaming stores.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "math_kernel.h"

namespace stax::codegen {
namespace {

constexpr std::size_t kPage = 4096;

// One page between two pages without access.
class Guarded {
 public:
  Guarded() : base_(static_cast<char*>(mmap(nullptr, 3 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(base_ + kPage, kPage, PROT_READ | PROT_WRITE);
  }
  ~Guarded() { munmap(base_, 3 * kPage); }
  char* first() { return base_ + kPage; }
  char* last() { return base_ + 2 * kPage; }

 private:
  char* base_;
};

const std::pair<int, const char*> kSettings[] = {{16, "-march=x86-64"},
                                                 {32, "-march=x86-64-v3"},
                                                 {16, "-march=native"},
                                                 {32, "-march=native"},
                                                 {64, "-march=native"}};

template <class T>
void check_parts(const MathKernel& kernel, const std::string& type, int lanes) {
  const auto copy = kernel.function<void(const void*, void*, std::int64_t)>("part_" + type);
  Guarded in, out;
  for (int n = 0; n <= lanes; ++n)
    for (const bool at_end : {false, true}) {
      char* x = at_end ? in.last() - n * sizeof(T) : in.first();
      char* y = at_end ? out.last() - n * sizeof(T) : out.first();
      for (std::size_t i = 0; i < n * sizeof(T); ++i)
        x[i] = static_cast<char>(i % 2 == 0 || sizeof(T) > 1 ? i % 60 + 1 : 0);
      if (type == "b8")
        for (int i = 0; i < n; ++i) x[i] = static_cast<char>(i % 3 == 0);
      std::memset(out.first(), 0x55, kPage);
      copy(x, y, n);
      EXPECT_EQ(std::memcmp(x, y, n * sizeof(T)), 0) << type << " n " << n;
      for (char* p = out.first(); p < out.last(); ++p)
        if (p < y || p >= y + n * sizeof(T)) {
          ASSERT_EQ(*p, 0x55) << type << " n " << n << " wrote at " << (p - y);
        }
    }
}

TEST(KernelMemory, PartsTouchNothingElse) {
  const std::string_view snippets[] = {"loadstore"};
  constexpr std::string_view kBody = R"(
#define PART(T) extern "C" void part_##T(const T* x, T* y, i64 n) { v::store_part(y, v::load_part(x, n), n); }
PART(f32) PART(f64) PART(i8) PART(u8) PART(i16) PART(i32) PART(i64) PART(b8) PART(bf16) PART(f16)
)";
  for (const auto& [width, flags] : kSettings) {
    const MathKernel kernel(snippets, kBody, width, flags);
    check_parts<float>(kernel, "f32", width / 4);
    check_parts<double>(kernel, "f64", width / 4);
    check_parts<std::int8_t>(kernel, "i8", width / 4);
    check_parts<std::uint8_t>(kernel, "u8", width / 4);
    check_parts<std::int16_t>(kernel, "i16", width / 4);
    check_parts<std::int32_t>(kernel, "i32", width / 4);
    check_parts<std::int64_t>(kernel, "i64", width / 4);
    check_parts<std::uint8_t>(kernel, "b8", width / 4);
    check_parts<std::uint16_t>(kernel, "bf16", width / 4);
    check_parts<std::uint16_t>(kernel, "f16", width / 4);
  }
}

TEST(KernelMemory, StridesAndGathers) {
  const std::string_view snippets[] = {"loadstore"};
  constexpr std::string_view kBody = R"(
extern "C" void strided(const f32* x, i64 s, f32* y, i64 t) { v::store_strided(y, t, v::load_strided(x, s)); }
extern "C" void strided_part(const i64* x, i64 s, i64* y, i64 n) { v::store_part(y, v::load_strided_part(x, s, n), n); }
extern "C" void gathered(const f32* x, const i64* at, f32* y, i64 n) {
  v::scatter_part(y, v::load_part(at, n), v::gather_part(x, v::load_part(at, n), n), n);
}
extern "C" void streamed(const f32* x, f32* y, const bf16* h, bf16* g) {
  v::store_stream(y, v::load(x));
  v::store_stream(g, v::load(h));
  v::fence_stream();
}
)";
  for (const auto& [width, flags] : kSettings) {
    const int lanes = width / 4;
    const MathKernel kernel(snippets, kBody, width, flags);
    std::vector<float> x(400), y(400, -1.0f);
    for (int i = 0; i < 400; ++i) x[i] = static_cast<float>(i);
    const auto strided = kernel.function<void(const float*, std::int64_t, float*, std::int64_t)>("strided");
    for (const int s : {-5, -1, 0, 1, 3}) {
      std::fill(y.begin(), y.end(), -1.0f);
      strided(x.data() + 200, s, y.data() + 300, -2);
      for (int j = 0; j < 2 * lanes; ++j)
        EXPECT_EQ(y[300 - j], j % 2 == 0 ? x[200 + s * (j / 2)] : -1.0f) << width << " stride " << s << " lane " << j;
    }
    std::vector<std::int64_t> a = {7, 1, 8, 2, 9, 3}, b(lanes, -1);
    kernel.function<void(const std::int64_t*, std::int64_t, std::int64_t*, std::int64_t)>("strided_part")(a.data(), 2,
                                                                                                          b.data(), 3);
    EXPECT_EQ(std::vector(b.begin(), b.begin() + 4), (std::vector<std::int64_t>{7, 8, 9, lanes > 3 ? -1 : b[3]}));
    const std::int64_t at[] = {390, 0, 17};
    std::fill(y.begin(), y.end(), -1.0f);
    kernel.function<void(const float*, const std::int64_t*, float*, std::int64_t)>("gathered")(x.data(), at, y.data(),
                                                                                               3);
    EXPECT_EQ(y[390], 390.0f);
    EXPECT_EQ(y[0], 0.0f);
    EXPECT_EQ(y[17], 17.0f);
    EXPECT_EQ(y[1], -1.0f);
    alignas(64) float out[16] = {};
    alignas(64) std::uint16_t half_in[16], half_out[16] = {};
    for (int j = 0; j < 16; ++j) half_in[j] = static_cast<std::uint16_t>(0x3f80 + j);
    kernel.function<void(const float*, float*, const std::uint16_t*, std::uint16_t*)>("streamed")(x.data() + 1, out,
                                                                                                  half_in, half_out);
    for (int j = 0; j < lanes; ++j) {
      EXPECT_EQ(out[j], x[1 + j]);
      EXPECT_EQ(half_out[j], half_in[j]);
    }
  }
}

// The nearest bfloat16 by distances in double.
std::uint16_t nearest_bf16(float x) {
  const auto u = std::bit_cast<std::uint32_t>(x);
  const auto value = [](std::uint32_t h) {
    return (h & 0x7fff) == 0x7f80 ? std::copysign(0x1p128, h & 0x8000 ? -1.0 : 1.0)
                                  : static_cast<double>(std::bit_cast<float>(h << 16));
  };
  if (std::isinf(x)) return static_cast<std::uint16_t>(u >> 16);
  const std::uint32_t lo = u >> 16, hi = lo + 1;
  const double to_lo = std::fabs(x - value(lo)), to_hi = std::fabs(value(hi) - x);
  return static_cast<std::uint16_t>(to_lo < to_hi || (to_lo == to_hi && lo % 2 == 0) ? lo : hi);
}

TEST(KernelMemory, HalfTypesRoundToNearestEven) {
  const std::string_view snippets[] = {"loadstore"};
  constexpr std::string_view kBody = R"(
#define WAYS(T) extern "C" void to_##T(const f32* x, T* y, i64 n) { for (i64 i = 0; i < n; i += v::L) v::store(y + i, v::load(x + i)); } \
                extern "C" void from_##T(const T* x, f32* y, i64 n) { for (i64 i = 0; i < n; i += v::L) v::store(y + i, v::load(x + i)); }
WAYS(bf16) WAYS(f16)
)";
  std::vector<std::uint16_t> all(65536), back(65536);
  for (int i = 0; i < 65536; ++i) all[i] = static_cast<std::uint16_t>(i);
  std::vector<float> x, wide(65536);
  std::mt19937 generator(3);
  for (std::uint64_t base = 0; base < (1ull << 32); base += 8192)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(base + generator() % 8192)));
  for (std::uint32_t h = 0; h < 65536; ++h)  // ties and their neighbours, of both types
    for (const int d : {-1, 0, 1}) {
      x.push_back(std::bit_cast<float>((h << 16 | 0x8000) + d));
      const float a = static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(h)));
      const float b = static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(h + 1)));
      if (std::isfinite(a) && std::isfinite(b))
        x.push_back(std::bit_cast<float>(std::bit_cast<std::uint32_t>((a + b) / 2) + d));
    }
  for (const float v : {65519.996f, 65520.0f, 65536.0f, -65520.0f, INFINITY, -INFINITY}) x.push_back(v);
  while (x.size() % 16 != 0) x.push_back(0.0f);
  std::vector<std::uint16_t> h(x.size());
  for (const auto& [width, flags] : kSettings) {
    const MathKernel kernel(snippets, kBody, width, flags);
    using To = void(const float*, std::uint16_t*, std::int64_t);
    using From = void(const std::uint16_t*, float*, std::int64_t);
    kernel.function<To>("to_bf16")(x.data(), h.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i])) {
        ASSERT_TRUE((h[i] & 0x7f80) == 0x7f80 && (h[i] & 0x7f) != 0);
      } else {
        ASSERT_EQ(h[i], nearest_bf16(x[i])) << x[i] << " " << width << flags;
      }
    }
    kernel.function<To>("to_f16")(x.data(), h.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i])) {
        ASSERT_TRUE((h[i] & 0x7c00) == 0x7c00 && (h[i] & 0x3ff) != 0);
      } else {
        ASSERT_EQ(h[i], std::bit_cast<std::uint16_t>(static_cast<_Float16>(x[i]))) << x[i] << " " << width << flags;
      }
    }
    kernel.function<From>("from_f16")(all.data(), wide.data(), 65536);
    for (int i = 0; i < 65536; ++i) {
      const auto expected = static_cast<float>(std::bit_cast<_Float16>(all[i]));
      ASSERT_TRUE(std::isnan(expected)
                      ? std::isnan(wide[i])
                      : std::bit_cast<std::uint32_t>(wide[i]) == std::bit_cast<std::uint32_t>(expected))
          << i;
    }
    kernel.function<To>("to_f16")(wide.data(), back.data(), 65536);
    for (int i = 0; i < 65536; ++i)
      if (!std::isnan(wide[i])) {
        ASSERT_EQ(back[i], all[i]);
      }
    kernel.function<From>("from_bf16")(all.data(), wide.data(), 65536);
    for (int i = 0; i < 65536; ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), static_cast<std::uint32_t>(i) << 16);
  }
}

}  // namespace
}  // namespace stax::codegen
