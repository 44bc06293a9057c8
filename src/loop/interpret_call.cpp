// Library calls by definition: matrix products accumulated in double (integers: wrapping).
#include <cmath>
#include <cstring>

#include "loop/interpret.h"
#include "loop/scalar_eval.h"

namespace stax::loop {
namespace {

double activate(Activation a, double x) {
  switch (a) {
    case Activation::none:
      return x;
    case Activation::relu:
      return std::isnan(x) || x > 0 ? x : 0.0;
    case Activation::gelu_erf:
      return 0.5 * x * (1 + std::erf(x * 0.70710678118654752440));
    case Activation::gelu_tanh: {
      const double inner = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1 + std::tanh(inner));
    }
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
  }
  return x;
}

// A view with numbers, and its elements converted to T (double, or int64 for integers).
struct Strided {
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0;
  const Memory* memory = nullptr;

  Strided(const RunState& s, const View& v) : memory(&s.memory[static_cast<std::size_t>(v.buffer)]) {
    for (Expr e : v.sizes) sizes.push_back(s.value_of(e));
    for (Expr e : v.strides) strides.push_back(s.value_of(e));
    if (v.offset) offset = s.value_of(v.offset);
  }
  char* at(std::int64_t address) const {
    STAX_CHECK(address >= memory->lo && address <= memory->hi, "a library call leaves its buffer");
    return memory->base + address * byte_size(memory->dtype);
  }
  template <class T>
  T read(std::int64_t address) const {
    T v;
    cast_function(memory->dtype, dtype_of<T>())(1, &v, at(address), nullptr, nullptr);
    return v;
  }
  template <class T>
  void write(std::int64_t address, T v) const {
    // Half types are rounded once, from f32 as at every store.
    if (is_half(memory->dtype)) {
      const auto f = static_cast<float>(v);
      cast_function(Dtype::f32, memory->dtype)(1, at(address), &f, nullptr, nullptr);
    } else {
      cast_function(dtype_of<T>(), memory->dtype)(1, at(address), &v, nullptr, nullptr);
    }
  }
  std::int64_t batch_offset(std::span<const std::int64_t> index) const {
    std::int64_t o = offset;
    for (std::size_t d = 0; d < index.size(); ++d) o += index[d] * strides[d];
    return o;
  }
};

template <class T>
std::vector<T> matrix(const Strided& v, std::int64_t offset) {
  const std::size_t r = v.sizes.size();
  std::vector<T> m;
  for (std::int64_t i = 0; i < v.sizes[r - 2]; ++i)
    for (std::int64_t j = 0; j < v.sizes[r - 1]; ++j)
      m.push_back(v.read<T>(offset + i * v.strides[r - 2] + j * v.strides[r - 1]));
  return m;
}

template <class T>
T dot(const T* a, const T* b, std::int64_t k, std::int64_t b_step) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, std::uint64_t>;
  Sum sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum += static_cast<Sum>(a[i]) * static_cast<Sum>(b[i * b_step]);
  return static_cast<T>(sum);
}

template <class T>
void multiply(const RunState& s, const LibraryCall& call) {
  const Strided a(s, call.a), b(s, call.b), out(s, call.out);
  std::optional<Strided> bias, residual;
  if (call.bias) bias.emplace(s, *call.bias);
  if (call.residual) residual.emplace(s, *call.residual);
  const std::size_t rank = out.sizes.size();
  const std::int64_t m = out.sizes[rank - 2], n = out.sizes[rank - 1], k = a.sizes[rank - 1];
  for_each_index(std::span(out.sizes.data(), rank - 2), [&](std::span<const std::int64_t> batch) {
    if (m == 0 || n == 0) return;
    const auto left = matrix<T>(a, a.batch_offset(batch)), right = matrix<T>(b, b.batch_offset(batch));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const auto address = [&](const Strided& v) {
          return v.batch_offset(batch) + i * v.strides[rank - 2] + j * v.strides[rank - 1];
        };
        T v = dot(left.data() + i * k, right.data() + j, k, n);
        if (call.scale != 1.0) v = static_cast<T>(static_cast<double>(v) * call.scale);
        if (bias) v += bias->read<T>(address(*bias));
        if constexpr (std::is_same_v<T, double>) v = activate(call.activation, v);
        if (residual) v += residual->read<T>(address(*residual));
        out.write(address(out), v);
      }
  });
}

}  // namespace

void run_call(const RunState& state, const LibraryCall& call) {
  if (is_floating(state.memory[static_cast<std::size_t>(call.out.buffer)].dtype))
    multiply<double>(state, call);
  else
    multiply<std::int64_t>(state, call);
}

}  // namespace stax::loop
