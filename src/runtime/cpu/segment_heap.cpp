#include "runtime/cpu/segment_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <vector>

#include "runtime/cpu/poison.h"

namespace stax::runtime {

namespace {
constexpr std::size_t kSmallestSegment = std::size_t{4} << 20, kUsualSegment = std::size_t{32} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20, kHugeFrom = std::size_t{4} << 20;
constexpr std::size_t kSmallestRest = 8 * 1024;  // a smaller rest of a block is not split off

// Zeros, from the start of a huge page on where `huge`. Null: no memory.
void* map_pages(std::size_t bytes, bool huge) {
  const std::size_t spare = huge ? kHugePage : 0;
  void* mapped = mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* begin = static_cast<char*>(mapped);
  if (huge) {
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % kHugePage;
    if (before) munmap(begin, before);
    begin += before;
    if (before < spare) munmap(begin + bytes, spare - before);
  }
  madvise(begin, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return begin;
}

}  // namespace

SegmentHeap::~SegmentHeap() { release_free_segments(); }

SegmentHeap::Block* SegmentHeap::map_segment(std::size_t bytes, Pages pages) {
  // Grows with what is held already; untouched pages cost no memory.
  std::size_t want = std::clamp(reserved_ / 4 / kGrain * kGrain, kSmallestSegment, kUsualSegment);
  if (limit_ && reserved_ + want > limit_) want = bytes;
  want = std::max(want, bytes);
  if (limit_ && (want > limit_ || reserved_ > limit_ - want)) return nullptr;
  void* p = map_pages(want, pages == Pages::huge);
  if (!p) return nullptr;
  reserved_ += want;
  register_roots(p, want);
  poison(p, want);
  unpoison(p, kHeader);
  auto* block = new (p) Block;
  block->bytes = want;
  block->pages = pages;
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
  tail->pages = block->pages;
  tail->previous = block;
  tail->next = block->next;
  if (tail->next) tail->next->previous = tail;
  block->next = tail;
  block->bytes = bytes;
  free(tail->pages).insert(*tail);
}

SegmentHeap::Block* SegmentHeap::take_free(std::size_t bytes, Pages pages) {
  FreeSet& blocks = free(pages);
  const auto it = blocks.lower_bound(bytes, AtLeast{});
  if (it == blocks.end()) return nullptr;
  Block* block = &*it;
  blocks.erase(it);
  return block;
}

void* SegmentHeap::allocate(std::size_t bytes, bool& fresh, Pages pages) {
  fresh = false;
  if (bytes > SIZE_MAX / 4) return nullptr;
  const std::size_t need = rounded(bytes);
  if (bytes >= kHugeFrom) pages = Pages::huge;
  const std::lock_guard lock(mutex_);
  Block* block = take_free(need, pages);
  if (!block && pages == Pages::usual) block = take_free(need, Pages::huge);
  if (!block) {
    block = map_segment(need, pages);
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
    free(block->pages).erase(FreeSet::s_iterator_to(*block->next));
    merge_with_next(block);
  }
  if (block->previous && block->previous->free) {
    free(block->pages).erase(FreeSet::s_iterator_to(*block->previous));
    block = merge_with_next(block->previous);
  }
  block->free = true;
  free(block->pages).insert(*block);
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
  const std::size_t released = release_free_segments(free_[0]) + release_free_segments(free_[1]);
  reserved_ -= released;
  return released;
}

std::size_t SegmentHeap::release_free_segments(FreeSet& free) {
  std::size_t released = 0;
  for (auto it = free.begin(); it != free.end();) {
    Block* block = &*it;
    if (block->previous || block->next) {
      ++it;
      continue;
    }
    it = free.erase(it);
    const std::size_t bytes = block->bytes;
    unpoison(block, bytes);
    block->~Block();
    unregister_roots(block, bytes);
    munmap(block, bytes);
    released += bytes;
  }
  return released;
}

}  // namespace stax::runtime
