#include <immintrin.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "lib/record.h"
#include "runtime/cpu/caching_allocator.h"

namespace bench {

namespace {

constexpr std::size_t kBytes = std::size_t{256} << 20;

struct Buffer {
  Buffer() : data(static_cast<char*>(stax::runtime::CachingAllocator::cpu().allocate(kBytes))) {
    std::memset(data, 1, kBytes);
  }
  ~Buffer() { stax::runtime::CachingAllocator::cpu().release(data, kBytes); }
  char* data;
};

#define STAX_AVX512 __attribute__((target("avx512f")))

typedef long long Wide __attribute__((vector_size(64), aligned(1), may_alias));

STAX_AVX512 long long wide_sum(const char* p, std::size_t bytes) {
  Wide a[4] = {};
  for (std::size_t i = 0; i < bytes; i += 256)
    for (int k = 0; k < 4; ++k) a[k] += *reinterpret_cast<const Wide*>(p + i + 64 * k);
  const Wide total = (a[0] + a[1]) + (a[2] + a[3]);
  long long sum = 0;
  for (int lane = 0; lane < 8; ++lane) sum += total[lane];
  return sum;
}

long long sum_of(const char* p, std::size_t bytes) {
  if (__builtin_cpu_supports("avx512f")) return wide_sum(p, bytes);
  __m128i a[4] = {};
  for (std::size_t i = 0; i < bytes; i += 64)
    for (int k = 0; k < 4; ++k)
      a[k] = _mm_add_epi64(a[k], _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i + 16 * k)));
  const __m128i total = _mm_add_epi64(_mm_add_epi64(a[0], a[1]), _mm_add_epi64(a[2], a[3]));
  return _mm_cvtsi128_si64(total) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(total, total));
}

STAX_AVX512 void wide_copy(char* to, const char* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
  _mm_sfence();
}

void stream_copy(char* to, const char* from, std::size_t bytes) {
  if (__builtin_cpu_supports("avx512f")) return wide_copy(to, from, bytes);
  for (std::size_t i = 0; i < bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  _mm_sfence();
}

}  // namespace

Ceilings measure_ceilings() {
  static Buffer a, b;
  volatile long long sink = 0;
  const int team = threads();
  const std::size_t share = kBytes / static_cast<std::size_t>(team) / 256 * 256;
  const double read = time_us(
      [&] {
        long long total = 0;
#pragma omp parallel for num_threads(team) reduction(+ : total)
        for (int t = 0; t < team; ++t) total += sum_of(a.data + static_cast<std::size_t>(t) * share, share);
        sink = total;
      },
      0.3);
  const double copy = time_us(
      [&] {
#pragma omp parallel for num_threads(team)
        for (int t = 0; t < team; ++t)
          stream_copy(b.data + static_cast<std::size_t>(t) * share, a.data + static_cast<std::size_t>(t) * share,
                      share);
      },
      0.3);
  const double bytes = static_cast<double>(share) * team;
  return {bytes / read * 1e6, 2 * bytes / copy * 1e6};
}

}  // namespace bench
