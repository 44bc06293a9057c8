// A strided view of a storage: the concrete, untraced tensor that the runtime, the plan and the interpreters work on.
#pragma once
#include <stax/base/error.h>
#include <stax/tensor/dtype.h>
#include <stax/tensor/storage.h>

#include <boost/container/small_vector.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stax {

inline constexpr int kMaxRank = 16;
using Dims = boost::container::small_vector<std::int64_t, 6>;

// Sizes and strides in elements; strides may be 0, negative or overlapping.
struct Layout {
  Dims sizes, strides;
  std::int64_t offset = 0;  // of the element at index 0…0, from the start of the storage

  int rank() const { return static_cast<int>(sizes.size()); }
  std::int64_t numel() const;
  bool is_contiguous() const;  // row-major without gaps; size-1 axes may have any stride
  bool operator==(const Layout& o) const { return sizes == o.sizes && strides == o.strides && offset == o.offset; }
};
Dims contiguous_strides(std::span<const std::int64_t> sizes);
Layout contiguous_layout(std::span<const std::int64_t> sizes);
// Lowest and highest element offset touched (inclusive); {0,-1} when empty.
std::pair<std::int64_t, std::int64_t> extent_of(const Layout& layout);
std::string to_string(std::span<const std::int64_t> dims);  // "[64, 128]"

class Array {
 public:
  Array() = default;
  // Uninitialised, row-major.
  static Array empty(std::span<const std::int64_t> sizes, Dtype dtype, Device device = {});
  static Array empty(std::initializer_list<std::int64_t> sizes, Dtype dtype, Device device = {}) {
    return empty(std::span<const std::int64_t>(sizes.begin(), sizes.size()), dtype, device);
  }
  Array(std::shared_ptr<Storage> storage, Dtype dtype, Layout layout)
      : storage_(std::move(storage)), dtype_(dtype), layout_(std::move(layout)) {}

  bool defined() const { return storage_ != nullptr; }
  Dtype dtype() const { return dtype_; }
  Device device() const { return storage_->device(); }
  const Layout& layout() const { return layout_; }
  const Dims& sizes() const { return layout_.sizes; }
  const Dims& strides() const { return layout_.strides; }
  std::int64_t offset() const { return layout_.offset; }
  int rank() const { return layout_.rank(); }
  std::int64_t size(int axis) const { return layout_.sizes[static_cast<std::size_t>(axis)]; }
  std::int64_t numel() const { return layout_.numel(); }
  bool is_contiguous() const { return layout_.is_contiguous(); }
  const std::shared_ptr<Storage>& storage() const { return storage_; }

  // Address of the first element (of the storage's base plus the offset). Null for an empty storage.
  void* data() const {
    return storage_->data() ? static_cast<char*>(storage_->data()) + layout_.offset * byte_size(dtype_) : nullptr;
  }
  // The elements for the host to read. InternalError when they lie on another device.
  template <class T>
  T* data_as() const {
    if (storage_->device().kind != DeviceKind::cpu) [[unlikely]]
      refuse_host();
    return static_cast<T*>(data());
  }

  Array with_layout(Layout layout) const { return Array(storage_, dtype_, std::move(layout)); }

 private:
  [[noreturn]] void refuse_host() const;

  std::shared_ptr<Storage> storage_;
  Dtype dtype_ = Dtype::f32;
  Layout layout_;
};

// Elementwise copy with conversion (rounds to nearest even, floats to integers truncate); sizes must be equal. CPU
// only.
void copy_elements(const Array& from, const Array& to);
Array contiguous_copy(const Array& a);
Array cast_copy(const Array& a, Dtype dtype);  // row-major
// Element at a multi-index as double / as int64 (bit-exact for integers).
double read_f64(const Array& a, std::span<const std::int64_t> index);
std::int64_t read_i64(const Array& a, std::span<const std::int64_t> index);
// Calls f(index) for every multi-index in row-major order.
template <class F>
void for_each_index(std::span<const std::int64_t> sizes, F&& f) {
  Dims index(sizes.size(), 0);
  for (std::int64_t s : sizes)
    if (s == 0) return;
  while (true) {
    f(std::span<const std::int64_t>(index.data(), index.size()));
    std::size_t d = sizes.size();
    while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace stax
