#include "plan/thread_scratch.h"

#include <cstdlib>
#include <memory>
#include <new>

namespace stax::plan {

namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;

struct Release {
  void operator()(void* p) const { std::free(p); }
};
struct ThreadStack {
  std::unique_ptr<void, Release> block;
  std::size_t used = 0;
};
thread_local ThreadStack t_stack;

void* aligned(std::size_t bytes) {
  void* p = std::aligned_alloc(64, bytes);
  if (!p) throw std::bad_alloc();
  return p;
}

}  // namespace

ThreadScratch::ThreadScratch(std::size_t bytes) : bytes_((bytes + 63) / 64 * 64) {
  ThreadStack& s = t_stack;
  if (!s.block) s.block.reset(aligned(kBlockBytes));
  if (s.used + bytes_ <= kBlockBytes) {
    data_ = static_cast<char*>(s.block.get()) + s.used;
    s.used += bytes_;
  } else {
    data_ = aligned(bytes_);
    own_ = true;
  }
}

ThreadScratch::~ThreadScratch() {
  if (own_)
    std::free(data_);
  else
    t_stack.used -= bytes_;
}

}  // namespace stax::plan
