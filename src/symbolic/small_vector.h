// Growable array of trivially copyable elements whose first N live in the object.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

namespace stax::symbolic {

template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() = default;
  SmallVector(const SmallVector&) = delete;
  SmallVector& operator=(const SmallVector&) = delete;
  void push_back(const T& value) {
    if (size_ == capacity_) grow();
    data_[size_++] = value;
  }
  void append(std::span<const T> values) {
    for (const T& v : values) push_back(v);
  }
  void resize_down(std::size_t size) { size_ = size; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  operator std::span<const T>() const { return {data_, size_}; }  // NOLINT

 private:
  void grow() {
    auto bigger = std::make_unique<T[]>(capacity_ * 2);
    for (std::size_t i = 0; i < size_; ++i) bigger[i] = data_[i];
    heap_ = std::move(bigger);
    data_ = heap_.get();
    capacity_ *= 2;
  }

  T inline_[N];
  std::unique_ptr<T[]> heap_;
  T* data_ = inline_;
  std::size_t size_ = 0, capacity_ = N;
};

}  // namespace stax::symbolic
