#include "runtime/cpu/caching_allocator.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <unordered_map>

#include "base/env.h"
#include "base/text.h"
#include "runtime/cpu/poison.h"
#include "runtime/cpu/small_blocks.h"

namespace stax::runtime {

using base::bytes_text;

namespace {

// Counters of one thread; others read them for statistics.
struct ThreadState {
  ThreadBlocks blocks;
  std::atomic<std::uint64_t> hits{0};
  bool taken = true;  // by a running thread

  void count_hit() { hits.store(hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
};

}  // namespace

struct CachingAllocator::Impl {
  Impl(std::size_t limit, std::string device_name) : heap(limit), small(heap), device(std::move(device_name)) {}

  SegmentHeap heap;
  SmallBlocks small;
  std::string device;
  const std::uint64_t id = next_id();
  alignas(64) std::atomic<std::size_t> in_use{0};
  std::atomic<std::size_t> peak{0};
  alignas(64) std::atomic<std::uint64_t> large_hits{0}, misses{0};
  std::mutex threads_mutex;
  std::deque<ThreadState> threads;  // stable addresses

  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> counter{1};
    return counter.fetch_add(1);
  }

  // Gives the allocator's state for the calling thread; null while the thread is being torn down.
  ThreadState* state();
  ThreadState* adopt();
  void abandon(ThreadState* s);
  void flush(ThreadState& s) {
    for (int c = 0; c < kSizeClasses; ++c) small.give_back(s.blocks.lists[static_cast<std::size_t>(c)], c, 0);
  }
  void use(std::size_t bytes) {
    const std::size_t now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t seen = peak.load(std::memory_order_relaxed);
    while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {}
  }
  void unuse(std::size_t bytes) { in_use.fetch_sub(bytes, std::memory_order_relaxed); }

  void* allocate_small(std::size_t bytes);
  void* allocate_large(std::size_t bytes, Pages pages);
  void* allocate(std::size_t bytes, Pages pages);
  void release_small(void* data, std::size_t bytes) noexcept;
  std::size_t release_cached();
  [[noreturn]] void fail(std::size_t bytes);
};

namespace {

// Allocators that exist, so that a thread's end does not touch one that is gone. Never destroyed.
struct Live {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, void*> allocators;
};
Live& live() {
  static Live* all = new Live;
  return *all;
}

struct LastUsed {
  std::uint64_t id = 0;
  ThreadState* state = nullptr;
};
thread_local LastUsed t_last;
thread_local bool t_ended = false;

}  // namespace

// The states that this thread has taken; gives them back when the thread ends.
struct ThreadRegistry {
  using AbandonFn = void (*)(void* impl, ThreadState*);
  struct Entry {
    std::uint64_t id;
    ThreadState* state;
    AbandonFn abandon;
  };
  std::vector<Entry> entries;

  ~ThreadRegistry() {
    t_ended = true;
    t_last = {};
    const std::lock_guard lock(live().mutex);
    for (const Entry& e : entries)
      if (auto it = live().allocators.find(e.id); it != live().allocators.end()) e.abandon(it->second, e.state);
  }
  ThreadState* find(std::uint64_t id) const {
    for (const Entry& e : entries)
      if (e.id == id) return e.state;
    return nullptr;
  }
};

namespace {
thread_local ThreadRegistry t_registry;
}

ThreadState* CachingAllocator::Impl::state() {
  if (t_last.id == id) [[likely]]
    return t_last.state;
  if (t_ended) return nullptr;
  ThreadState* s = t_registry.find(id);
  if (!s) {
    s = adopt();
    t_registry.entries.push_back(
        {id, s, [](void* impl, ThreadState* state) { static_cast<CachingAllocator::Impl*>(impl)->abandon(state); }});
  }
  t_last = {id, s};
  return s;
}

ThreadState* CachingAllocator::Impl::adopt() {
  const std::lock_guard lock(threads_mutex);
  for (ThreadState& s : threads)
    if (!s.taken) {
      s.taken = true;
      return &s;
    }
  return &threads.emplace_back();
}

void CachingAllocator::Impl::abandon(ThreadState* s) {
  flush(*s);
  const std::lock_guard lock(threads_mutex);
  s->taken = false;
}

void* CachingAllocator::Impl::allocate_small(std::size_t bytes) {
  const int c = size_class_of(bytes);
  ThreadState* s = state();
  BlockList orphan;  // for a thread without state
  BlockList& list = s ? s->blocks.lists[static_cast<std::size_t>(c)] : orphan;
  void* block = list.pop();
  if (block) [[likely]] {
    s->count_hit();
  } else {
    bool fresh = false;
    if (!small.refill(list, c, fresh)) {
      release_cached();
      if (!small.refill(list, c, fresh)) fail(bytes);
    }
    block = list.pop();
    if (fresh)
      misses.fetch_add(1, std::memory_order_relaxed);
    else
      large_hits.fetch_add(1, std::memory_order_relaxed);
    if (!s) small.give_back(orphan, c, 0);
  }
  unpoison(block, bytes);
  use(class_bytes(c));
  return block;
}

void* CachingAllocator::Impl::allocate_large(std::size_t bytes, Pages pages) {
  bool fresh = false;
  void* data = heap.allocate(bytes, fresh, pages);
  if (!data) {
    release_cached();
    data = heap.allocate(bytes, fresh, pages);
    if (!data) fail(bytes);
  }
  (fresh ? misses : large_hits).fetch_add(1, std::memory_order_relaxed);
  use(SegmentHeap::block_bytes(data));
  return data;
}

void CachingAllocator::Impl::release_small(void* data, std::size_t bytes) noexcept {
  const int c = size_class_of(bytes);
  unuse(class_bytes(c));
  if (ThreadState* s = state()) [[likely]] {
    BlockList& list = s->blocks.lists[static_cast<std::size_t>(c)];
    list.push(data, class_bytes(c));
    if (list.count() > SmallBlocks::most_kept(c)) [[unlikely]]
      small.give_back(list, c, SmallBlocks::most_kept(c) / 2);
  } else {
    BlockList orphan;
    orphan.push(data, class_bytes(c));
    small.give_back(orphan, c, 0);
  }
}

std::size_t CachingAllocator::Impl::release_cached() {
  if (ThreadState* s = state()) flush(*s);
  small.release_free_slabs();
  return heap.release_free_segments();
}

void CachingAllocator::Impl::fail(std::size_t bytes) {
  const std::size_t used = in_use.load(), reserved = heap.reserved(), limit = heap.limit();
  const std::size_t cached = reserved > used ? reserved - used : 0;
  throw OutOfMemory(fmt::format("out of memory on {}: asked for {}", device, bytes_text(bytes)),
                    fmt::format("Stax has {} in use and {} cached{}", bytes_text(used), bytes_text(cached),
                                limit ? fmt::format(" (limit {})", bytes_text(limit)) : ""),
                    limit
                        ? "Drop tensors that are no longer needed, use smaller batches, or raise STAX_CPU_MEMORY_LIMIT"
                        : "Drop tensors that are no longer needed, or use smaller batches",
                    {bytes, used, cached});
}

CachingAllocator::CachingAllocator(std::size_t limit, std::string device_name)
    : impl_(std::make_unique<Impl>(limit, std::move(device_name))) {
  const std::lock_guard lock(live().mutex);
  live().allocators.emplace(impl_->id, impl_.get());
}

CachingAllocator::~CachingAllocator() {
  {
    const std::lock_guard lock(live().mutex);
    live().allocators.erase(impl_->id);
  }
  for (ThreadState& s : impl_->threads) impl_->flush(s);
  impl_->small.release_free_slabs();
}

namespace {
std::atomic<int> filled_with{-1};
}

void CachingAllocator::fill_allocations(int byte) { filled_with.store(byte, std::memory_order_relaxed); }
int CachingAllocator::fill_byte() { return filled_with.load(std::memory_order_relaxed); }

void* CachingAllocator::Impl::allocate(std::size_t bytes, Pages pages) {
  if (bytes == 0) bytes = 1;
  void* data = bytes <= kSmallLimit ? allocate_small(bytes) : allocate_large(bytes, pages);
  if (const int byte = fill_byte(); byte >= 0) [[unlikely]]
    std::memset(data, byte, bytes);
  return data;
}

void* CachingAllocator::allocate(std::size_t bytes) { return impl_->allocate(bytes, Pages::usual); }
void* CachingAllocator::allocate_huge(std::size_t bytes) { return impl_->allocate(bytes, Pages::huge); }

void CachingAllocator::release(void* data, std::size_t bytes) noexcept {
  if (!data) return;
  if (bytes == 0) bytes = 1;
  if (bytes <= kSmallLimit) return impl_->release_small(data, bytes);
  impl_->unuse(SegmentHeap::block_bytes(data));
  impl_->heap.release(data);
}

AllocatorStats CachingAllocator::stats() const {
  AllocatorStats s;
  s.in_use = impl_->in_use.load();
  s.peak_in_use = impl_->peak.load();
  const std::size_t reserved = impl_->heap.reserved();
  s.cached = reserved > s.in_use ? reserved - s.in_use : 0;
  s.limit = impl_->heap.limit();
  s.hits = impl_->large_hits.load();
  s.misses = impl_->misses.load();
  const std::lock_guard lock(impl_->threads_mutex);
  for (const ThreadState& t : impl_->threads) s.hits += t.hits.load(std::memory_order_relaxed);
  return s;
}

void CachingAllocator::reset_peak() { impl_->peak.store(impl_->in_use.load()); }
void CachingAllocator::set_limit(std::size_t bytes) { impl_->heap.set_limit(bytes); }
std::size_t CachingAllocator::release_cached() { return impl_->release_cached(); }

CachingAllocator& CachingAllocator::cpu() {
  static CachingAllocator* allocator = [] {
    const std::int64_t mib = base::env_integer("STAX_CPU_MEMORY_LIMIT").value_or(0);
    return new CachingAllocator(static_cast<std::size_t>(mib) << 20, "cpu");
  }();
  return *allocator;
}

namespace {

// The tensor room's own allocator serves until the first use through this one, so nothing happens while the library
// loads but a pointer being set; errors in the environment surface at the first allocation.
class LazyCpuAllocator final : public Allocator {
 public:
  void* allocate(std::size_t bytes) override { return CachingAllocator::cpu().allocate(bytes); }
  void release(void* data, std::size_t bytes) noexcept override { CachingAllocator::cpu().release(data, bytes); }
};

const bool installed = [] {
  set_allocator(Device{}, *new LazyCpuAllocator);
  return true;
}();

}  // namespace
}  // namespace stax::runtime
