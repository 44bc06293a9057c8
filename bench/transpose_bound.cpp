// What bounds x.T + y of float32: hand-written forms beside the bandwidth of plain loops, and the row itself.
//   bench_transpose_bound [SIZE]      a multiple of 256, 4096 by default; needs AVX-512
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of the header of intrinsics, in GCC 12
#include <fmt/format.h>
#include <immintrin.h>
#include <stax/stax.h>

#include <cstdlib>
#include <memory>

#include "lib/ceilings.h"
#include "lib/record.h"
#include "runtime/cpu/caching_allocator.h"

namespace {

#define STAX_WIDE __attribute__((target("avx512f")))
#define STAX_WIDE_INLINE __attribute__((target("avx512f"), always_inline)) inline

constexpr int kLanes = 16;

STAX_WIDE_INLINE void pairs(__m512& to, const __m512& a, const __m512& b, bool high) {
  const __m512d x = _mm512_castps_pd(a), y = _mm512_castps_pd(b);
  to = _mm512_castpd_ps(high ? _mm512_unpackhi_pd(x, y) : _mm512_unpacklo_pd(x, y));
}

STAX_WIDE_INLINE void transpose(__m512 (&m)[kLanes]) {
  __m512 t[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 2)
    t[i] = _mm512_unpacklo_ps(m[i], m[i + 1]), t[i + 1] = _mm512_unpackhi_ps(m[i], m[i + 1]);
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 16
    for (int h = 0; h < 4; ++h) pairs(m[i + h], t[i + h / 2], t[i + 2 + h / 2], h % 2);
#pragma GCC unroll 16
  for (int i = 0; i < 4; ++i)
#pragma GCC unroll 16
    for (int h = 0; h < 2; ++h) {
      t[8 * h + i] = _mm512_shuffle_f32x4(m[8 * h + i], m[8 * h + 4 + i], 0x88);
      t[8 * h + 4 + i] = _mm512_shuffle_f32x4(m[8 * h + i], m[8 * h + 4 + i], 0xdd);
    }
#pragma GCC unroll 16
  for (int i = 0; i < 8; ++i) {
    m[i] = _mm512_shuffle_f32x4(t[i], t[8 + i], 0x88);
    m[8 + i] = _mm512_shuffle_f32x4(t[i], t[8 + i], 0xdd);
  }
}

enum class Fetch {
  none,     // loads alone
  at_once,  // the lines of the next tile's rows 16 at a time
  spaced,   // a line of x and one of y for each row of a square, no faster than `kLinks` multiplications apart
};

constexpr int kLinks = 4;  // of three cycles: two for each line

struct Matrices {
  const float *x, *y;
  float* out;
  std::int64_t size;
};

// Tiles of `tile` × `tile`, squares of 16 × 16; y comes `kAhead` squares early, x a tile.
template <Fetch fetch, int tile>
STAX_WIDE void tiles(const Matrices& a, std::int64_t begin, std::int64_t end) {
  constexpr int kAhead = 7, kLines = tile / kLanes;
  const std::int64_t size = a.size, across = size / tile;
  std::uint64_t zero = 0;
  for (std::int64_t unit = begin; unit < end; ++unit) {
    const std::int64_t next = std::min(unit + 1, across * across - 1);
    const std::int64_t row = unit / across * tile, column = unit % across * tile;
    const std::int64_t next_row = next / across * tile, next_column = next % across * tile;
    std::int64_t line = 0;
    for (std::int64_t g = row; g < row + tile; g += kLanes)
      for (std::int64_t e = column; e < column + tile; e += kLanes) {
        std::int64_t soon_e = e + static_cast<std::int64_t>(kAhead) * kLanes, soon_g = g;
        if (soon_e >= column + tile) soon_e -= tile, soon_g += kLanes;
        if (soon_g >= row + tile) soon_e += next_column - column, soon_g = next_row;
        const float* const soon = a.y + soon_g * size + soon_e;
        const float* const rows = a.x + (next_column + line / kLines) * size + next_row;
        const auto coming = [&](int j) { return rows + j / kLines * size + j % kLines * kLanes; };
        const auto bring = [](const float* p) STAX_WIDE { asm volatile("prefetcht1 %0" : : "m"(*p)); };
        if constexpr (fetch == Fetch::at_once)
          for (int j = 0; j < kLanes; ++j) bring(coming(j));
        __m512 m[kLanes];
#pragma GCC unroll 16
        for (int j = 0; j < kLanes; ++j) {
          if constexpr (fetch == Fetch::spaced)
            for (int k = 0; k < kLinks; ++k) asm volatile("imul %0, %0" : "+r"(zero));
          m[j] = _mm512_loadu_ps(a.x + (e + j) * size + g);
          if constexpr (fetch == Fetch::spaced) bring(coming(j) + zero), bring(soon + j * size + zero);
        }
        transpose(m);
#pragma GCC unroll 16
        for (int k = 0; k < kLanes; ++k) {
          if constexpr (fetch == Fetch::at_once) bring(soon + k * size);
          const std::int64_t at = (g + k) * size + e;
          _mm512_stream_ps(a.out + at, m[k] + _mm512_loadu_ps(a.y + at));
        }
        line += kLanes;
      }
  }
  _mm_sfence();
}

void check(const Matrices& a) {
  for (std::int64_t i = 0; i < a.size; i += 3)
    for (std::int64_t j = 0; j < a.size; j += 5)
      if (a.out[i * a.size + j] != a.x[j * a.size + i] + a.y[i * a.size + j]) {
        fmt::print(stderr, "bench_transpose_bound: wrong at {}, {}\n", i, j);
        std::exit(1);
      }
}

template <Fetch fetch, int tile>
void add_form(bench::Race& race, const char* name, const Matrices& a) {
  const auto call = [a] {
    const std::int64_t units = a.size / tile * (a.size / tile), team = bench::threads();
#pragma omp parallel for num_threads(static_cast <int>(team))
    for (std::int64_t t = 0; t < team; ++t) tiles<fetch, tile>(a, units * t / team, units * (t + 1) / team);
  };
  std::fill_n(a.out, a.size * a.size, 0.0F);
  call();
  check(a);
  race.add_call(name, call);
}

std::shared_ptr<float> matrix(std::int64_t size) {
  auto& allocator = stax::runtime::CachingAllocator::cpu();
  const std::size_t count = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  const std::size_t bytes = count * sizeof(float);
  auto* data = static_cast<float*>(allocator.allocate(bytes));
  for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<float>(i % 4099);
  return {data, [bytes](float* p) { stax::runtime::CachingAllocator::cpu().release(p, bytes); }};
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t size = argc > 1 ? std::atol(argv[1]) : 4096;
  if (size < 256 || size % 256 != 0 || !__builtin_cpu_supports("avx512f")) {
    fmt::print(stderr, "bench_transpose_bound: needs AVX-512 and a size that is a multiple of 256\n");
    return 2;
  }
  const auto x = matrix(size), y = matrix(size), out = matrix(size);
  const Matrices a{x.get(), y.get(), out.get(), size};
  const double bytes = 12.0 * static_cast<double>(size) * static_cast<double>(size);
  bench::Race race;
  const double moved = bench::add_ceiling(race, bench::Traffic::add, bytes);
  add_form<Fetch::none, 128>(race, "by hand, tiles of 128, loads alone", a);
  add_form<Fetch::at_once, 256>(race, "by hand, tiles of 256, fetched at once", a);
  add_form<Fetch::spaced, 128>(race, "by hand, tiles of 128, fetched spaced out", a);
  const stax::Tensor tx = stax::randn({size, size}, 1), ty = stax::randn({size, size}, 2);
  const auto compiled = stax::compile([](stax::Tensor u, stax::Tensor v) { return u.t() + v; });
  race.add_call("x.T + y", [&] { (void)compiled(tx, ty); });
  const auto figures = race.run();
  const double ceiling = moved / figures.at("ceiling");
  for (const auto& [name, us] : figures)
    fmt::print("{:<44} {:>8.0f} µs   {:.2f} of the ceiling\n", name, us, bytes / us / ceiling);
  return 0;
}
