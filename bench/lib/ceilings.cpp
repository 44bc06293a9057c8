#include "lib/ceilings.h"

#include <immintrin.h>

#include <cstring>
#include <memory>

#include "lib/record.h"
#include "runtime/cpu/caching_allocator.h"

namespace bench {

namespace {

struct Buffer {
  explicit Buffer(std::size_t size)
      : bytes(size), data(static_cast<char*>(stax::runtime::CachingAllocator::cpu().allocate(size))) {
    std::memset(data, 1, bytes);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { stax::runtime::CachingAllocator::cpu().release(data, bytes); }
  std::size_t bytes;
  char* data;
};

// Vectors of the widest kind that the machine has; Ops is one of the two below.
struct Narrow {
  using V = __m128i;
  static V load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const V*>(p)); }
  static V add(V a, V b) { return _mm_add_epi64(a, b); }
  static void stream(char* p, V v) { _mm_stream_si128(reinterpret_cast<V*>(p), v); }
};

#define STAX_WIDE __attribute__((target("avx512f"), always_inline)) static inline

struct Wide {
  using V = __m512i;
  STAX_WIDE V load(const char* p) { return _mm512_loadu_si512(p); }
  STAX_WIDE V add(V a, V b) { return _mm512_add_epi64(a, b); }
  STAX_WIDE void stream(char* p, V v) { _mm512_stream_si512(reinterpret_cast<V*>(p), v); }
};

// Two streams a thread, four accumulators each: more of either is not faster.
#define STAX_LOOPS(TARGET, OPS)                                                                       \
  TARGET void read_##OPS(const char* p, std::size_t bytes, char* result) {                            \
    using V = OPS::V;                                                                                 \
    const std::size_t step = 4 * sizeof(V), half = bytes / 2;                                         \
    V a0{}, a1{}, a2{}, a3{}, b0{}, b1{}, b2{}, b3{};                                                 \
    for (const char *q = p, *r = p + half; q < p + half; q += step, r += step) {                      \
      a0 = OPS::add(a0, OPS::load(q)), b0 = OPS::add(b0, OPS::load(r));                               \
      a1 = OPS::add(a1, OPS::load(q + sizeof(V))), b1 = OPS::add(b1, OPS::load(r + sizeof(V)));       \
      a2 = OPS::add(a2, OPS::load(q + 2 * sizeof(V)));                                                \
      b2 = OPS::add(b2, OPS::load(r + 2 * sizeof(V)));                                                \
      a3 = OPS::add(a3, OPS::load(q + 3 * sizeof(V)));                                                \
      b3 = OPS::add(b3, OPS::load(r + 3 * sizeof(V)));                                                \
    }                                                                                                 \
    a0 = OPS::add(OPS::add(a0, a1), OPS::add(a2, a3));                                                \
    b0 = OPS::add(OPS::add(b0, b1), OPS::add(b2, b3));                                                \
    a0 = OPS::add(a0, b0);                                                                            \
    std::memcpy(result, &a0, sizeof(V));                                                              \
  }                                                                                                   \
  TARGET void copy_##OPS(char* to, const char* from, std::size_t bytes) {                             \
    for (std::size_t i = 0; i < bytes; i += sizeof(OPS::V)) OPS::stream(to + i, OPS::load(from + i)); \
    _mm_sfence();                                                                                     \
  }                                                                                                   \
  TARGET void add_##OPS(char* to, const char* a, const char* b, std::size_t bytes) {                  \
    for (std::size_t i = 0; i < bytes; i += sizeof(OPS::V))                                           \
      OPS::stream(to + i, OPS::add(OPS::load(a + i), OPS::load(b + i)));                              \
    _mm_sfence();                                                                                     \
  }

STAX_LOOPS(, Narrow)
STAX_LOOPS(__attribute__((target("avx512f"))), Wide)

struct Arrays {
  Buffer x, y, z;
};

// A piece of `share` bytes of the arrays for each thread.
void run(const Arrays& arrays, Traffic traffic, std::size_t share, int team) {
  const bool wide = __builtin_cpu_supports("avx512f");
#pragma omp parallel for num_threads(team)
  for (int t = 0; t < team; ++t) {
    const std::size_t at = static_cast<std::size_t>(t) * share;
    char sum[64];
    switch (traffic) {
      case Traffic::read:
        (wide ? read_Wide : read_Narrow)(arrays.x.data + at, share, sum);
        asm volatile("" : : "r"(sum) : "memory");
        break;
      case Traffic::copy:
        (wide ? copy_Wide : copy_Narrow)(arrays.z.data + at, arrays.x.data + at, share);
        break;
      case Traffic::add:
        (wide ? add_Wide : add_Narrow)(arrays.z.data + at, arrays.x.data + at, arrays.y.data + at, share);
        break;
    }
  }
}

}  // namespace

double add_ceiling(Race& race, Traffic traffic, double bytes) {
  constexpr std::size_t kPage = 4096;
  const std::size_t count = traffic == Traffic::read ? 1 : traffic == Traffic::copy ? 2 : 3;
  const auto team = static_cast<std::size_t>(threads());
  const std::size_t share = static_cast<std::size_t>(bytes) / count / team / kPage * kPage, size = share * team;
  const std::shared_ptr<Arrays> arrays(
      new Arrays{Buffer(size), Buffer(count > 2 ? size : kPage), Buffer(count > 1 ? size : kPage)});
  race.add_call("ceiling", [arrays, traffic, share, team] { run(*arrays, traffic, share, static_cast<int>(team)); });
  return static_cast<double>(size * count);
}

}  // namespace bench
