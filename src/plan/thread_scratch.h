// Scratch memory of the calling thread, handed out as a stack.
#pragma once
#include <cstddef>

namespace stax::plan {

// Lives in a scope; scopes of one thread nest. Needs the heap only when the thread's stack of blocks has to grow.
// Aligned to 64 bytes, uninitialised.
class ThreadScratch {
 public:
  explicit ThreadScratch(std::size_t bytes);
  ~ThreadScratch();
  ThreadScratch(const ThreadScratch&) = delete;
  ThreadScratch& operator=(const ThreadScratch&) = delete;
  void* data() const { return data_; }

 private:
  void* data_;
  std::size_t bytes_;
  bool own_ = false;  // from the heap
};

}  // namespace stax::plan
