#include <fmt/format.h>
#include <stax/tensor/array.h>

#include <cstdlib>
#include <type_traits>

#include "tensor/convert.h"

namespace stax {

std::int64_t Layout::numel() const {
  std::int64_t n = 1;
  for (std::int64_t s : sizes) n *= s;
  return n;
}

bool Layout::is_contiguous() const {
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

Dims contiguous_strides(std::span<const std::int64_t> sizes) {
  Dims strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<std::int64_t>(sizes[i], 1);
  }
  return strides;
}

Layout contiguous_layout(std::span<const std::int64_t> sizes) {
  return Layout{Dims(sizes.begin(), sizes.end()), contiguous_strides(sizes), 0};
}

// So that the length between two such elements fits 64 bits.
constexpr std::int64_t kFarthest = std::int64_t{1} << 61;

std::pair<std::int64_t, std::int64_t> extent_of(const Layout& layout) {
  std::int64_t lo = layout.offset, hi = layout.offset;
  for (std::size_t i = 0; i < layout.sizes.size(); ++i) {
    if (layout.sizes[i] == 0) return {0, -1};
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(layout.sizes[i] - 1, layout.strides[i], &reach) ||
        __builtin_add_overflow(reach < 0 ? lo : hi, reach, reach < 0 ? &lo : &hi) || lo < -kFarthest || hi > kFarthest)
      throw UserError(fmt::format("a tensor of shape {} with strides {} does not fit 64 bits",
                                  to_string(std::span(layout.sizes.data(), layout.sizes.size())),
                                  to_string(std::span(layout.strides.data(), layout.strides.size()))));
  }
  return {lo, hi};
}

std::string to_string(std::span<const std::int64_t> dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

Array Array::empty(std::span<const std::int64_t> sizes, Dtype dtype, Device device) {
  std::int64_t bytes = byte_size(dtype);
  for (std::int64_t s : sizes) {
    if (s < 0) throw UserError(fmt::format("a tensor of shape {} has a negative size", to_string(sizes)));
    if (__builtin_mul_overflow(bytes, s, &bytes))
      throw UserError(fmt::format("a tensor of shape {} does not fit 64 bits", to_string(sizes)));
  }
  auto storage = std::make_shared<Storage>(allocator_for(device), static_cast<std::size_t>(bytes), device);
  return Array(std::move(storage), dtype, contiguous_layout(sizes));
}

void Array::refuse_host() const {
  throw InternalError(fmt::format("the host reads the memory of a tensor on {}", to_string(device())));
}

namespace {

template <class From, class To>
void copy_typed(const Array& from, const Array& to) {
  const From* src = from.data_as<From>();
  To* dst = to.data_as<To>();
  if (from.is_contiguous() && to.is_contiguous()) {
    for (std::int64_t i = 0, n = from.numel(); i < n; ++i) dst[i] = convert<To>(src[i]);
    return;
  }
  for_each_index(std::span(from.sizes().data(), from.sizes().size()), [&](std::span<const std::int64_t> index) {
    std::int64_t a = 0, b = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      a += index[d] * from.strides()[d];
      b += index[d] * to.strides()[d];
    }
    dst[b] = convert<To>(src[a]);
  });
}

std::int64_t element_offset(const Array& a, std::span<const std::int64_t> index) {
  std::int64_t o = 0;
  for (std::size_t d = 0; d < index.size(); ++d) o += index[d] * a.strides()[d];
  return o;
}

}  // namespace

void copy_elements(const Array& from, const Array& to) {
  STAX_CHECK(from.sizes() == to.sizes(), "copy_elements: unlike sizes");
  visit_dtype(from.dtype(), [&](auto f) {
    visit_dtype(to.dtype(), [&](auto t) { copy_typed<decltype(f), decltype(t)>(from, to); });
  });
}

Array contiguous_copy(const Array& a) { return cast_copy(a, a.dtype()); }

Array cast_copy(const Array& a, Dtype dtype) {
  Array out = Array::empty(std::span(a.sizes().data(), a.sizes().size()), dtype);
  copy_elements(a, out);
  return out;
}

double read_f64(const Array& a, std::span<const std::int64_t> index) {
  return visit_dtype(a.dtype(),
                     [&](auto zero) { return convert<double>(a.data_as<decltype(zero)>()[element_offset(a, index)]); });
}

std::int64_t read_i64(const Array& a, std::span<const std::int64_t> index) {
  return visit_dtype(a.dtype(), [&](auto zero) {
    return convert<std::int64_t>(a.data_as<decltype(zero)>()[element_offset(a, index)]);
  });
}

}  // namespace stax
