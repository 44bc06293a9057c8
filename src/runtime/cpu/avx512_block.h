// Sums of products in AVX-512 registers: 8 rows times 32 columns or 6 times 64, with the epilogue. For panel_matmul.cpp
// and batched_matmul.cpp.
#pragma once
#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>

// GCC 12 takes the operand that an unmasked intrinsic passes through for a use of something undefined; in the
// files that include this too.
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace stax::runtime::avx512 {

#define STAX_AVX512 __attribute__((target("avx512f")))
#define STAX_AVX512_INLINE __attribute__((target("avx512f"), always_inline)) inline

STAX_AVX512_INLINE __m512 horner(__m512 x, const float* coefficients, int count) {
  __m512 y = _mm512_set1_ps(coefficients[0]);
  for (int i = 1; i < count; ++i) y = _mm512_fmadd_ps(y, x, _mm512_set1_ps(coefficients[i]));
  return y;
}

// The polynomials of codegen/cpp/prelude/erf.inc.
STAX_AVX512_INLINE __m512 erf(__m512 x) {
  static constexpr float kSmall[] = {-0x1.30acf6p-11f, 0x1.44c912p-8f,  -0x1.b6197ep-6f,
                                     0x1.ce1200p-4f,   -0x1.8126aep-2f, 0x1.06eba4p-3f};
  static constexpr float kLog[] = {-0x1.c5ff30p-10f, 0x1.66cb3cp-6f,  -0x1.099838p-3f,
                                   -0x1.e2063cp-1f,  -0x1.9d3c24p+0f, -0x1.a978bcp-9f};
  static constexpr float kPower[] = {0x1.5c08e6p-10f, 0x1.3d0c54p-7f, 0x1.c6b6e4p-5f,
                                     0x1.ebf918p-3f,  0x1.62e428p-1f, 0x1.000002p+0f};
  const __m512 small = _mm512_fmadd_ps(horner(_mm512_mul_ps(x, x), kSmall, 6), x, x);
  const __m512 size = _mm512_abs_ps(x), a = _mm512_min_ps(_mm512_set1_ps(3.95f), size);  // NaN stays
  const __m512 g = horner(a, kLog, 6), n = _mm512_roundscale_ps(g, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 power = _mm512_scalef_ps(horner(_mm512_sub_ps(g, n), kPower, 6), n);
  const __m512 large = _mm512_sub_ps(_mm512_set1_ps(1.0f), power);
  const __m512i sign = _mm512_and_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(static_cast<int>(0x80000000U)));
  const __m512 signed_large = _mm512_castsi512_ps(_mm512_or_epi32(_mm512_castps_si512(large), sign));
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(size, _mm512_set1_ps(0.95f), _CMP_LT_OQ), signed_large, small);
}

STAX_AVX512_INLINE __m512 gelu(__m512 x) {
  const __m512 half = _mm512_mul_ps(x, _mm512_set1_ps(0.5f));
  return _mm512_mul_ps(half, _mm512_add_ps(erf(_mm512_mul_ps(x, _mm512_set1_ps(0.70710678f))), _mm512_set1_ps(1.0f)));
}

// What follows the sums of a block, and their place in the output.
struct Epilogue {
  const float *bias, *residual;  // of the first row and column; null: none
  float* out;
  std::int64_t residual_step, out_step;  // from row to row
  float scale;
  bool gelu;
  __mmask16 active[4];  // of each vector of columns
};

STAX_AVX512_INLINE __m512 scaled(const Epilogue& e, int part, __m512 sum) {
  const __m512 x = _mm512_mul_ps(sum, _mm512_set1_ps(e.scale));
  return e.bias ? _mm512_add_ps(x, _mm512_maskz_loadu_ps(e.active[part], e.bias + 16 * part)) : x;
}

STAX_AVX512_INLINE void finish(const Epilogue& e, std::int64_t row, int part, __m512 x) {
  const __mmask16 active = e.active[part];
  if (e.residual) x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(active, e.residual + row * e.residual_step + 16 * part));
  _mm512_mask_storeu_ps(e.out + row * e.out_step + 16 * part, active, x);
}

// What a block fetches meanwhile: of each row of columns at `data`, `lines` (0 to 4) cache lines from `first` on.
struct Ahead {
  const float* data = nullptr;
  int first = 0, lines = 0;
};

// `R` rows of a with 16 C columns of b, whose rows are `b_step` elements apart.
template <int R, int C>
STAX_AVX512 void block(const float* a, std::int64_t a_step, const float* b, std::int64_t b_step, std::int64_t k,
                       const Epilogue& epilogue, Ahead ahead) {
  __m512 sum[R][C];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) sum[r][c] = _mm512_setzero_ps();
  const float* fetched = ahead.data + 16 * ahead.first;
  for (std::int64_t i = 0; i < k; ++i) {
    __m512 x[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) x[c] = _mm512_loadu_ps(b + i * b_step + 16 * c);
    if (ahead.lines > 0) {
      const float* line = fetched + i * b_step;
      _mm_prefetch(reinterpret_cast<const char*>(line), _MM_HINT_T0);
      if (ahead.lines > 1) {
        _mm_prefetch(reinterpret_cast<const char*>(line + 16), _MM_HINT_T0);
        if (ahead.lines > 2) _mm_prefetch(reinterpret_cast<const char*>(line + 32), _MM_HINT_T0);
        if (ahead.lines > 3) _mm_prefetch(reinterpret_cast<const char*>(line + 48), _MM_HINT_T0);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const __m512 factor = _mm512_set1_ps(a[r * a_step + i]);
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) sum[r][c] = _mm512_fmadd_ps(factor, x[c], sum[r][c]);
    }
  }
  if (epilogue.gelu) {
    // A loop: unrolled, the many copies would push one another out of the instruction cache.
    __m512 all[R * C];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) all[r * C + c] = scaled(epilogue, c, sum[r][c]);
#pragma GCC unroll 1
    for (int i = 0; i < R * C; ++i) finish(epilogue, i / C, i % C, gelu(all[i]));
    return;
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) finish(epilogue, r, c, scaled(epilogue, c, sum[r][c]));
}

using Block = void (*)(const float*, std::int64_t, const float*, std::int64_t, std::int64_t, const Epilogue&, Ahead);
// By rows - 1: the sums of the largest leave room in the 32 registers for a row of b and a factor.
inline constexpr Block kNarrowBlocks[] = {block<1, 2>, block<2, 2>, block<3, 2>, block<4, 2>,
                                          block<5, 2>, block<6, 2>, block<7, 2>, block<8, 2>};
inline constexpr Block kWideBlocks[] = {block<1, 4>, block<2, 4>, block<3, 4>, block<4, 4>, block<5, 4>, block<6, 4>};
inline constexpr std::int64_t kNarrowRows = 8, kNarrowColumns = 32, kWideRows = 6, kWideColumns = 64;

// The first n of 16 lanes.
inline __mmask16 first_lanes(std::int64_t n) {
  return static_cast<__mmask16>(n >= 16 ? 0xffff : n <= 0 ? 0 : (1 << n) - 1);
}

}  // namespace stax::runtime::avx512

#endif
