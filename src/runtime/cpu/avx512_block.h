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

// x/2 (1 + erf(x/sqrt 2)) as max(x, 0) - |x| h with h = erfc(|x|/sqrt 2)/2 = 2^(P(|x|/sqrt 2) - 1): erf itself is not
// needed to its last bit where 1 is added to it. P: weighted minimax fit to log2 erfc on [0, 3.95], where h is right to
// 3e-8; beyond, h is less than that.
STAX_AVX512_INLINE __m512 gelu(__m512 x) {
  static constexpr float kLog[] = {-0x1.7c7edcp-15f, 0x1.d32612p-12f, -0x1.8672c2p-10f, -0x1.9620f2p-11f,
                                   0x1.cee886p-6f,   -0x1.301720p-3f, -0x1.d63aacp-1f,  -0x1.a0be9ep+0f};
  static constexpr float kPower[] = {0x1.5c08e6p-10f, 0x1.3d0c54p-7f, 0x1.c6b6e4p-5f,
                                     0x1.ebf918p-3f,  0x1.62e428p-1f, 0x1.000002p+0f};
  const __m512 size = _mm512_abs_ps(x), limit = _mm512_set1_ps(3.95f);
  const __m512 scaled = _mm512_mul_ps(size, _mm512_set1_ps(0.70710678f));
  const __mmask16 inside = _mm512_cmp_ps_mask(scaled, limit, _CMP_NGT_UQ);
  const __m512 a = _mm512_min_ps(limit, scaled);  // NaN stays
  const __m512 g = _mm512_fmadd_ps(horner(a, kLog, 8), a, _mm512_set1_ps(-1.0f));
  const __m512 n = _mm512_roundscale_ps(g, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 h = _mm512_maskz_scalef_ps(inside, horner(_mm512_sub_ps(g, n), kPower, 6), n);
  const __m512 positive = _mm512_max_ps(_mm512_set1_ps(-0.0f), x);  // NaN and the sign of 0 stay
  // Beyond: x itself, -0, and NaN for -inf, as the product with 0 gives.
  const __mmask16 product = inside | _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
  const __m512 other = _mm512_mask_blend_ps(product, _mm512_setzero_ps(), size);
  return _mm512_fnmadd_ps(other, h, positive);
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
