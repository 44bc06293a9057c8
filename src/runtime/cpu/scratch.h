// A block of memory for the length of a scope.
#pragma once
#include <cstddef>

#include "runtime/cpu/caching_allocator.h"

namespace stax::runtime {

class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(std::size_t bytes) : data_(CachingAllocator::cpu().allocate(bytes)), bytes_(bytes) {}
  static Scratch huge(std::size_t bytes) { return Scratch(CachingAllocator::cpu().allocate_huge(bytes), bytes); }
  Scratch(Scratch&& other) noexcept : data_(other.data_), bytes_(other.bytes_) { other.data_ = nullptr; }
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Scratch() {
    if (data_) CachingAllocator::cpu().release(data_, bytes_);
  }
  void* data() const { return data_; }

 private:
  Scratch(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace stax::runtime
