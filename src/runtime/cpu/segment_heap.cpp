#include "runtime/cpu/segment_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <vector>

#include "runtime/cpu/poison.h"

namespace stax::runtime {

namespace {
constexpr std::size_t kSmallestSegment = std::size_t{4} << 20, kUsualSegment = std::size_t{32} << 20;
constexpr std::size_t kSmallestRest = 8 * 1024;  // a smaller rest of a block is not split off
}  // namespace

SegmentHeap::~SegmentHeap() { release_free_segments(); }

SegmentHeap::Block* SegmentHeap::map_segment(std::size_t bytes) {
  // Grows with what is held already; untouched pages cost no memory.
  std::size_t want = std::clamp(reserved_ / 4 / kGrain * kGrain, kSmallestSegment, kUsualSegment);
  if (limit_ && reserved_ + want > limit_) want = bytes;
  want = std::max(want, bytes);
  if (limit_ && (want > limit_ || reserved_ > limit_ - want)) return nullptr;
  void* p = mmap(nullptr, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  madvise(p, want, MADV_NOHUGEPAGE);
  reserved_ += want;
  register_roots(p, want);
  poison(p, want);
  unpoison(p, kHeader);
  auto* block = new (p) Block;
  block->bytes = want;
  return block;
}

void SegmentHeap::split(Block* block, std::size_t bytes) {
  const std::size_t rest = block->bytes - bytes;
  if (rest < kSmallestRest) return;
  void* at = reinterpret_cast<char*>(block) + bytes;
  unpoison(at, kHeader);
  auto* tail = new (at) Block;
  tail->bytes = rest;
  tail->free = true;
  tail->previous = block;
  tail->next = block->next;
  if (tail->next) tail->next->previous = tail;
  block->next = tail;
  block->bytes = bytes;
  free_.insert(*tail);
}

void* SegmentHeap::allocate(std::size_t bytes, bool& fresh) {
  fresh = false;
  if (bytes > SIZE_MAX / 4) return nullptr;
  const std::size_t need = rounded(bytes);
  const std::lock_guard lock(mutex_);
  Block* block = nullptr;
  if (auto it = free_.lower_bound(need, AtLeast{}); it != free_.end()) {
    block = &*it;
    free_.erase(it);
  } else {
    block = map_segment(need);
    fresh = true;
    if (!block) return nullptr;
  }
  block->free = false;
  split(block, need);
  void* data = reinterpret_cast<char*>(block) + kHeader;
  unpoison(data, bytes);
  return data;
}

SegmentHeap::Block* SegmentHeap::merge_with_next(Block* block) {
  Block* next = block->next;
  block->bytes += next->bytes;
  block->next = next->next;
  if (block->next) block->next->previous = block;
  next->~Block();
  poison(next, kHeader);
  return block;
}

void SegmentHeap::release(void* data) noexcept {
  auto* block = reinterpret_cast<Block*>(static_cast<char*>(data) - kHeader);
  const std::lock_guard lock(mutex_);
  poison(data, block->bytes - kHeader);
  if (block->next && block->next->free) {
    free_.erase(free_.iterator_to(*block->next));
    merge_with_next(block);
  }
  if (block->previous && block->previous->free) {
    free_.erase(free_.iterator_to(*block->previous));
    block = merge_with_next(block->previous);
  }
  block->free = true;
  free_.insert(*block);
}

std::size_t SegmentHeap::block_bytes(const void* data) {
  return reinterpret_cast<const Block*>(static_cast<const char*>(data) - kHeader)->bytes;
}

std::size_t SegmentHeap::reserved() const {
  const std::lock_guard lock(mutex_);
  return reserved_;
}
std::size_t SegmentHeap::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}
void SegmentHeap::set_limit(std::size_t limit) {
  const std::lock_guard lock(mutex_);
  limit_ = limit;
}

std::size_t SegmentHeap::release_free_segments() {
  const std::lock_guard lock(mutex_);
  std::size_t released = 0;
  for (auto it = free_.begin(); it != free_.end();) {
    Block* block = &*it;
    if (block->previous || block->next) {
      ++it;
      continue;
    }
    it = free_.erase(it);
    const std::size_t bytes = block->bytes;
    unpoison(block, bytes);
    block->~Block();
    unregister_roots(block, bytes);
    munmap(block, bytes);
    released += bytes;
  }
  reserved_ -= released;
  return released;
}

}  // namespace stax::runtime
