#include "runtime/cpu/simple_matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "runtime/cpu/threads.h"

// Kernels for each instruction set, chosen when the library loads. Not under sanitizers: their start-up comes later.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STAX_CLONES
#else
#define STAX_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

namespace stax::runtime {

namespace {

// c[0, n) += a · b[0, n)
STAX_CLONES void add_scaled(double* c, double a, const double* b, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) c[j] += a * b[j];
}
STAX_CLONES void add_scaled(float* c, float a, const float* b, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) c[j] += a * b[j];
}
STAX_CLONES void add_scaled(std::uint32_t* c, std::uint32_t a, const std::uint32_t* b, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) c[j] += a * b[j];
}
STAX_CLONES void add_scaled(std::uint64_t* c, std::uint64_t a, const std::uint64_t* b, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) c[j] += a * b[j];
}

double activate(Activation f, double v) {
  switch (f) {
    case Activation::none:
      return v;
    case Activation::relu:
      return v < 0 ? 0.0 : v;
    case Activation::gelu_erf:
      return 0.5 * v * (1 + std::erf(v * M_SQRT1_2));
    case Activation::gelu_tanh:
      return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    case Activation::silu:
      return v / (1 + std::exp(-v));
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-v));
    case Activation::tanh:
      return std::tanh(v);
  }
  return v;
}

// Type in which products of T are summed. Unsigned arithmetic wraps; the low bits of a wider sum are those of a narrow
// one.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, T,
                               std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

// Sign-extended before it becomes unsigned.
template <class T>
Sum<T> widen(T v) {
  if constexpr (std::is_floating_point_v<T>)
    return v;
  else
    return static_cast<Sum<T>>(static_cast<std::int64_t>(v));
}

template <class T>
T finish(Sum<T> sum, double scale, Activation f, const T* bias, const T* residual) {
  if constexpr (std::is_floating_point_v<T>) {
    T v = static_cast<T>(sum * static_cast<T>(scale));
    if (bias) v += *bias;
    if (f != Activation::none) v = static_cast<T>(activate(f, static_cast<double>(v)));
    if (residual) v += *residual;
    return v;
  } else {
    if (bias) sum += widen(*bias);
    if (residual) sum += widen(*residual);
    return static_cast<T>(sum);
  }
}

constexpr std::int64_t kRows = 64, kColumns = 256, kDepth = 64;

template <class T>
const T* at(const MatmulMatrix& x, std::int64_t batch_offset, std::int64_t i, std::int64_t j) {
  return x.data ? static_cast<const T*>(x.data) + batch_offset + i * x.rows + j * x.columns : nullptr;
}

std::int64_t batch_offset(const MatmulMatrix& x, const SmallDims& batch, std::int64_t index) {
  if (!x.data) return 0;
  std::int64_t offset = 0;
  for (std::size_t d = batch.size(); d-- > 0; index /= batch[d]) offset += index % batch[d] * x.batch[d];
  return offset;
}

// Rows [row0, row1) and columns [col0, col0 + columns) of one batch element.
template <class T>
void block(const MatmulProblem& p, std::int64_t batch, std::int64_t row0, std::int64_t row1, std::int64_t col0,
           std::int64_t columns) {
  thread_local std::vector<Sum<T>> panel, sums;
  panel.resize(static_cast<std::size_t>(kDepth * kColumns));
  sums.resize(static_cast<std::size_t>(kRows * kColumns));
  const std::int64_t ao = batch_offset(p.a, p.batch, batch), bo = batch_offset(p.b, p.batch, batch),
                     co = batch_offset(p.out, p.batch, batch), eo = batch_offset(p.bias, p.batch, batch),
                     ro = batch_offset(p.residual, p.batch, batch);
  for (std::int64_t i0 = row0; i0 < row1; i0 += kRows) {
    const std::int64_t rows = std::min(kRows, row1 - i0);
    std::fill(sums.begin(), sums.end(), Sum<T>{0});
    for (std::int64_t k0 = 0; k0 < p.k; k0 += kDepth) {
      const std::int64_t depth = std::min(kDepth, p.k - k0);
      for (std::int64_t kk = 0; kk < depth; ++kk)
        for (std::int64_t j = 0; j < columns; ++j)
          panel[static_cast<std::size_t>(kk * kColumns + j)] = widen(*at<T>(p.b, bo, k0 + kk, col0 + j));
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t kk = 0; kk < depth; ++kk)
          add_scaled(sums.data() + i * kColumns, widen(*at<T>(p.a, ao, i0 + i, k0 + kk)), panel.data() + kk * kColumns,
                     columns);
    }
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        *const_cast<T*>(at<T>(p.out, co, i0 + i, col0 + j)) =
            finish<T>(sums[static_cast<std::size_t>(i * kColumns + j)], p.scale, p.activation,
                      at<T>(p.bias, eo, i0 + i, col0 + j), at<T>(p.residual, ro, i0 + i, col0 + j));
  }
}

template <class T>
void run(const MatmulProblem& p) {
  const std::int64_t row_blocks = (p.m + kRows - 1) / kRows, col_blocks = (p.n + kColumns - 1) / kColumns,
                     tasks = p.batch_count() * row_blocks * col_blocks;
  const int threads = num_threads();
  const bool worth = p.m * p.n * std::max<std::int64_t>(p.k, 1) * p.batch_count() > 64 * 1024;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (worth && threads > 1)
  for (std::int64_t t = 0; t < tasks; ++t) {
    const std::int64_t col = t % col_blocks, row = t / col_blocks % row_blocks, batch = t / col_blocks / row_blocks;
    block<T>(p, batch, row * kRows, std::min(p.m, (row + 1) * kRows), col * kColumns,
             std::min(kColumns, p.n - col * kColumns));
  }
}

float relu(float v) { return v < 0 ? 0.0f : v; }
BFloat16 relu(BFloat16 v) { return (v.bits & 0x8000u) && (v.bits & 0x7fffu) <= 0x7f80u ? BFloat16{} : v; }

template <class T>
void relu_rows(const MatmulProblem& p) {
  const std::int64_t rows = p.batch_count() * p.m;
  const int threads = num_threads();
#pragma omp parallel for num_threads(threads) if (rows * p.n > 64 * 1024 && threads > 1)
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t batch = r / p.m, i = r % p.m, oo = batch_offset(p.out, p.batch, batch),
                       ro = batch_offset(p.residual, p.batch, batch);
    for (std::int64_t j = 0; j < p.n; ++j) {
      T* out = const_cast<T*>(at<T>(p.out, oo, i, j));
      *out = relu(*out);
      if constexpr (std::is_same_v<T, float>)
        if (p.residual.data) *out += *at<T>(p.residual, ro, i, j);
    }
  }
}

}  // namespace

void relu_and_add(const MatmulProblem& p) {
  if (p.dtype == Dtype::bf16) return relu_rows<BFloat16>(p);
  relu_rows<float>(p);
}

void simple_matmul(const MatmulProblem& p) {
  switch (p.dtype) {
    case Dtype::f64:
      return run<double>(p);
    case Dtype::f32:
      return run<float>(p);
    case Dtype::u8:
      return run<std::uint8_t>(p);
    case Dtype::i8:
      return run<std::int8_t>(p);
    case Dtype::i16:
      return run<std::int16_t>(p);
    case Dtype::i32:
      return run<std::int32_t>(p);
    case Dtype::i64:
      return run<std::int64_t>(p);
    default:
      STAX_CHECK(false, fmt::format("matmul of {}", to_text(p.dtype)));
  }
}

}  // namespace stax::runtime
