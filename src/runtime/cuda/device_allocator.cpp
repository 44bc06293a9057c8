#include "runtime/cuda/device_allocator.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/text.h"
#include "runtime/cpu/caching_allocator.h"
#include "runtime/cuda/block_table.h"

namespace stax::runtime {

using base::bytes_text;

namespace {

constexpr std::size_t kGrain = 512, kMiB = std::size_t{1} << 20;
constexpr std::size_t kSmallLimit = kMiB, kSmallSegment = 2 * kMiB, kSharedLimit = 10 * kMiB,
                      kSharedSegment = 20 * kMiB;

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

}  // namespace

struct DeviceAllocator::Impl {
  SegmentSource& source;
  std::string device;
  mutable std::mutex mutex;
  BlockTable table;
  DeviceMemoryStats stats;
  std::uint32_t pool = 0, last_pool = 0;  // pool: of the capture under way

  DeviceBlock* reuse(std::size_t bytes, bool small);
  DeviceBlock* new_segment(std::size_t bytes, bool small);
  std::size_t release_cached();
  [[noreturn]] void out_of_memory(std::size_t asked);
};

DeviceAllocator::DeviceAllocator(SegmentSource& source, std::string device, std::size_t limit)
    : impl_(new Impl{source, std::move(device), {}, {}, {}, 0, 0}) {
  impl_->stats.limit = limit;
}
DeviceAllocator::~DeviceAllocator() { release_cached(); }

// A graph's own blocks first; what it takes from the others becomes its own.
DeviceBlock* DeviceAllocator::Impl::reuse(std::size_t bytes, bool small) {
  DeviceBlock* block = pool ? table.take(pool, small, bytes) : nullptr;
  if (!block) block = table.take(0, small, bytes);
  return block;
}

DeviceBlock* DeviceAllocator::Impl::new_segment(std::size_t bytes, bool small) {
  std::size_t want = small ? kSmallSegment : bytes < kSharedLimit ? kSharedSegment : round_up(bytes, kSmallSegment);
  const std::size_t least = round_up(bytes, kSmallSegment);
  for (;; want = least) {
    const bool allowed = !stats.limit || (want <= stats.limit && stats.reserved <= stats.limit - want);
    if (void* data = allowed ? source.get(want) : nullptr) {
      stats.reserved += want;
      ++stats.segments;
      return table.add_segment(static_cast<char*>(data), want, small);
    }
    if (want == least) return nullptr;
  }
}

std::size_t DeviceAllocator::Impl::release_cached() {
  std::size_t released = 0;
  table.drop_free_segments([&](char* address, std::size_t bytes) {
    source.put(address);
    released += bytes;
  });
  stats.reserved -= released;
  return released;
}

void DeviceAllocator::Impl::out_of_memory(std::size_t asked) {
  std::vector<std::size_t> sizes;
  table.for_each_used([&](const DeviceBlock& b) { sizes.push_back(b.bytes); });
  const std::size_t shown = std::min<std::size_t>(3, sizes.size());
  std::partial_sort(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(shown), sizes.end(), std::greater<>());
  std::string largest;
  for (std::size_t i = 0; i < shown; ++i) largest += (i ? ", " : "; the largest: ") + bytes_text(sizes[i]);
  const SegmentSource::Memory memory = source.memory();
  const std::string limit = stats.limit ? fmt::format(" (limit {})", bytes_text(stats.limit)) : "";
  throw OutOfMemory(
      fmt::format("out of memory on {}: asked for {}", device, bytes_text(asked)),
      fmt::format("Stax holds {} blocks of {} in all{}; it has {} from the driver{}. The driver has {} of {} free",
                  stats.blocks, bytes_text(stats.in_use), largest, bytes_text(stats.reserved), limit,
                  bytes_text(memory.free), bytes_text(memory.total)),
      stats.limit ? "Drop tensors that are no longer needed, use smaller batches, or raise STAX_CUDA_MEMORY_LIMIT"
                  : "Drop tensors that are no longer needed, use smaller batches, or end other programs on the card",
      {asked, stats.in_use, stats.reserved - stats.in_use});
}

void* DeviceAllocator::allocate(std::size_t bytes) {
  Impl& s = *impl_;
  const std::lock_guard lock(s.mutex);
  if (bytes > SIZE_MAX / 4) s.out_of_memory(bytes);
  const std::size_t need = std::max(kGrain, round_up(bytes, kGrain));
  const bool small = need <= kSmallLimit;
  DeviceBlock* block = s.reuse(need, small);
  if (!block) {
    if (s.pool)
      throw DeviceError(
          fmt::format("{} more bytes are needed on {} while a CUDA graph is captured, which may not get memory from "
                      "the driver. Run the same work once before the capture",
                      need, s.device));
    block = s.new_segment(need, small);
    if (!block && s.release_cached() > 0) {
      // Space that was split off other segments may suffice once they are gone; it is looked for again by new_segment.
      block = s.new_segment(need, small);
    }
    if (!block) s.out_of_memory(bytes);
  }
  const std::size_t rest = block->bytes - need;
  if (rest >= (small ? kGrain : kMiB)) s.table.split(block, need, block->pool);
  block->pool = s.pool;
  s.table.mark_used(block);
  s.stats.in_use += block->bytes;
  s.stats.peak_in_use = std::max(s.stats.peak_in_use, s.stats.in_use);
  ++s.stats.blocks;
  ++s.stats.allocations;
  if (const int byte = CachingAllocator::fill_byte(); byte >= 0) [[unlikely]]
    s.source.fill(block->address, block->bytes, byte);
  return block->address;
}

void DeviceAllocator::release(void* data, std::size_t) noexcept {
  if (!data) return;
  Impl& s = *impl_;
  const std::lock_guard lock(s.mutex);
  DeviceBlock* block = s.table.find_used(data);
  if (!block) return;
  s.stats.in_use -= block->bytes;
  --s.stats.blocks;
  s.table.make_free(block);
}

DeviceMemoryStats DeviceAllocator::stats() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->stats;
}
void DeviceAllocator::reset_peak() {
  const std::lock_guard lock(impl_->mutex);
  impl_->stats.peak_in_use = impl_->stats.in_use;
}
void DeviceAllocator::set_limit(std::size_t bytes) {
  const std::lock_guard lock(impl_->mutex);
  impl_->stats.limit = bytes;
}
std::size_t DeviceAllocator::release_cached() {
  const std::lock_guard lock(impl_->mutex);
  return impl_->release_cached();
}

std::uint32_t DeviceAllocator::begin_pool() {
  const std::lock_guard lock(impl_->mutex);
  impl_->pool = ++impl_->last_pool;
  return impl_->pool;
}
void DeviceAllocator::end_pool() {
  const std::lock_guard lock(impl_->mutex);
  impl_->pool = 0;
}
void DeviceAllocator::free_pool(std::uint32_t pool) {
  const std::lock_guard lock(impl_->mutex);
  impl_->table.dissolve(pool);
}

}  // namespace stax::runtime
