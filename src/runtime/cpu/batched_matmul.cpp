#include "runtime/cpu/batched_matmul.h"

#include "runtime/cpu/avx512_block.h"

#if defined(__x86_64__)

#include <algorithm>

#include "runtime/cpu/isa.h"
#include "runtime/cpu/openmp.h"

namespace stax::runtime {

namespace {

constexpr std::int64_t kBlockRows = avx512::kNarrowRows, kBlockColumns = avx512::kNarrowColumns;

constexpr std::int64_t kMostInner = 512;  // k: a panel of b has at most 64 KiB
constexpr std::int64_t kMostRows = 160;   // m and n: larger ones are the library's, which is as fast there
constexpr std::int64_t kSerial = std::int64_t{1} << 17;  // multiplications that are not worth a second thread

STAX_AVX512_INLINE __m512 low(__m512 a, __m512 b) {
  return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}
STAX_AVX512_INLINE __m512 high(__m512 a, __m512 b) {
  return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

// Rows of 16 become columns.
STAX_AVX512_INLINE void transpose(__m512 (&x)[16]) {
  __m512 t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
  }
  // x[4 g + c]: of rows 4 g to 4 g + 3, column 4 q + c in quarter q.
#pragma GCC unroll 4
  for (int g = 0; g < 16; g += 4) {
    x[g] = low(t[g], t[g + 2]);
    x[g + 1] = high(t[g], t[g + 2]);
    x[g + 2] = low(t[g + 1], t[g + 3]);
    x[g + 3] = high(t[g + 1], t[g + 3]);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    t[c] = _mm512_shuffle_f32x4(x[c], x[4 + c], 0x88);
    t[4 + c] = _mm512_shuffle_f32x4(x[c], x[4 + c], 0xdd);
    t[8 + c] = _mm512_shuffle_f32x4(x[8 + c], x[12 + c], 0x88);
    t[12 + c] = _mm512_shuffle_f32x4(x[8 + c], x[12 + c], 0xdd);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    x[c] = _mm512_shuffle_f32x4(t[c], t[8 + c], 0x88);
    x[4 + c] = _mm512_shuffle_f32x4(t[4 + c], t[12 + c], 0x88);
    x[8 + c] = _mm512_shuffle_f32x4(t[c], t[8 + c], 0xdd);
    x[12 + c] = _mm512_shuffle_f32x4(t[4 + c], t[12 + c], 0xdd);
  }
}

// Columns [0, n) of b, n <= 32, into rows of 32; zeros beyond n. b is contiguous along n.
STAX_AVX512 void pack_rows(const float* b, std::int64_t step, std::int64_t k, std::int64_t n, float* panel) {
  const __mmask16 left = avx512::first_lanes(n), right = avx512::first_lanes(n - 16);
  for (std::int64_t i = 0; i < k; ++i) {
    _mm512_store_ps(panel + i * kBlockColumns, _mm512_maskz_loadu_ps(left, b + i * step));
    _mm512_store_ps(panel + i * kBlockColumns + 16, _mm512_maskz_loadu_ps(right, b + i * step + 16));
  }
}

// The same of a b that is contiguous along k.
STAX_AVX512 void pack_columns(const float* b, std::int64_t step, std::int64_t k, std::int64_t n, float* panel) {
  for (std::int64_t column = 0; column < kBlockColumns; column += 16)
    for (std::int64_t i = 0; i < k; i += 16) {
      const __mmask16 active = avx512::first_lanes(k - i);
      __m512 x[16];
      for (std::int64_t j = 0; j < 16; ++j)
        x[j] = column + j < n ? _mm512_maskz_loadu_ps(active, b + (column + j) * step + i) : _mm512_setzero_ps();
      transpose(x);
      for (std::int64_t j = 0; j < std::min<std::int64_t>(16, k - i); ++j)
        _mm512_store_ps(panel + (i + j) * kBlockColumns + column, x[j]);
    }
}

std::int64_t offset(const MatmulMatrix& x, const SmallDims& batch, std::int64_t index) {
  std::int64_t at = 0;
  for (std::size_t i = batch.size(); i-- > 0; index /= batch[i]) at += index % batch[i] * x.batch[i];
  return at;
}

// Where the matrices of one product are.
struct Place {
  const float *a, *b;
  float* out;
};
Place place_of(const MatmulProblem& p, std::int64_t index) {
  return {static_cast<const float*>(p.a.data) + offset(p.a, p.batch, index),
          static_cast<const float*>(p.b.data) + offset(p.b, p.batch, index),
          static_cast<float*>(p.out.data) + offset(p.out, p.batch, index)};
}

// Lines of memory that lie `step` elements apart, `length` elements each.
struct Lines {
  const float* data;
  std::int64_t step, count, length;
};
// None of a matrix without gaps: the hardware fetches that ahead.
Lines lines_of(const MatmulMatrix& x, const float* data, std::int64_t rows, std::int64_t columns) {
  if (x.columns == 1 ? x.rows == columns : x.columns == rows) return {};
  return x.columns == 1 ? Lines{data, x.rows, rows, columns} : Lines{data, x.columns, columns, rows};
}

// The part `i` of `parts` of the lines. Matrices of a batch often lie side by side in longer rows, whose lines the
// hardware does not fetch ahead.
void fetch(const Lines& x, std::int64_t i, std::int64_t parts) {
  for (std::int64_t line = x.count * i / parts; line < x.count * (i + 1) / parts; ++line)
    for (std::int64_t at = 0; at < x.length; at += 16) _mm_prefetch(x.data + line * x.step + at, _MM_HINT_T0);
}

// One product; fetches the matrices of `next`.
void run_one(const MatmulProblem& p, const Place& at, const Place& next, float* panel) {
  const Lines next_a = lines_of(p.a, next.a, p.m, p.k), next_b = lines_of(p.b, next.b, p.k, p.n);
  const std::int64_t parts = (p.n + kBlockColumns - 1) / kBlockColumns * ((p.m + kBlockRows - 1) / kBlockRows);
  std::int64_t part = 0;
  for (std::int64_t column = 0; column < p.n; column += kBlockColumns) {
    const std::int64_t left = p.n - column;
    const float *b = at.b + column * p.b.columns, *columns = panel;
    std::int64_t step = kBlockColumns;
    if (p.b.columns != 1)
      pack_columns(b, p.b.columns, p.k, std::min(left, kBlockColumns), panel);
    else if (left < kBlockColumns)
      pack_rows(b, p.b.rows, p.k, left, panel);
    else
      columns = b, step = p.b.rows;
    avx512::Epilogue e{};
    e.out_step = p.out.rows;
    e.scale = static_cast<float>(p.scale);
    e.active[0] = avx512::first_lanes(left);
    e.active[1] = avx512::first_lanes(left - 16);
    for (std::int64_t row = 0; row < p.m; row += kBlockRows, ++part) {
      fetch(next_a, part, parts);
      fetch(next_b, part, parts);
      e.out = at.out + row * p.out.rows + column;
      avx512::kNarrowBlocks[std::min(kBlockRows, p.m - row) - 1](at.a + row * p.a.rows, p.a.rows, columns, step, p.k, e,
                                                                 {});
    }
  }
}

bool fits(const MatmulProblem& p, int threads) {
  if (p.dtype != Dtype::f32 || p.batch.empty() || p.batch_count() < threads || p.m < 1 || p.n < 1) return false;
  if (p.k < 1 || p.k > kMostInner || p.m > kMostRows || p.n > kMostRows) return false;
  if (p.bias.data || p.residual.data || p.activation != Activation::none) return false;
  static const bool wide = cpu_supports("avx512");
  return wide && p.a.columns == 1 && p.out.columns == 1 && (p.b.columns == 1 || p.b.rows == 1);
}

}  // namespace

bool batched_matmul(const MatmulProblem& p, int threads) {
  if (!fits(p, threads)) return false;
  const std::int64_t count = p.batch_count();
  const int team = count * p.m * p.n * p.k <= kSerial ? 1 : threads;
#pragma omp parallel num_threads(team) if (team > 1)
  {
    alignas(64) float panel[kMostInner * kBlockColumns];
    const int thread = omp_get_thread_num(), threads_now = omp_get_num_threads();
    const std::int64_t begin = count * thread / threads_now, end = count * (thread + 1) / threads_now;
    for (std::int64_t i = begin; i < end; ++i) run_one(p, place_of(p, i), place_of(p, std::min(i + 1, end - 1)), panel);
  }
  return true;
}

}  // namespace stax::runtime

#else

namespace stax::runtime {
bool batched_matmul(const MatmulProblem&, int) { return false; }
}  // namespace stax::runtime

#endif
