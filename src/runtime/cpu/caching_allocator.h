// An allocator that keeps released memory, so that its pages stay mapped and warm.
#pragma once
#include <stax/tensor/storage.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace stax::runtime {

struct AllocatorStats {
  std::size_t in_use = 0;       // bytes that callers hold (as rounded up)
  std::size_t peak_in_use = 0;  // highest in_use since the last reset_peak
  std::size_t cached = 0;       // bytes got from the system that nobody holds
  std::size_t limit = 0;        // of in_use + cached; 0: none
  std::uint64_t hits = 0;       // served from kept memory
  std::uint64_t misses = 0;     // needed new memory from the system
};

// Blocks up to 64 KiB come from size classes (at most 12.5 % waste above 512 bytes) through a cache of the calling
// thread; larger ones from segments by best fit with splitting and merging. Addresses are multiples of 64. Thread-safe.
class CachingAllocator final : public Allocator {
 public:
  explicit CachingAllocator(std::size_t limit = 0, std::string device_name = "cpu");
  ~CachingAllocator() override;  // nothing may be in use

  // DeviceError "out of memory on cpu: asked for …, … in use, … cached" when the system or the limit refuses.
  void* allocate(std::size_t bytes) override;
  void release(void* data, std::size_t bytes) noexcept override;
  // The same in huge pages, where the system has them: for what stays and is read over and over.
  void* allocate_huge(std::size_t bytes);

  AllocatorStats stats() const;
  void reset_peak();
  // Takes effect at the next request to the system. 0: none.
  void set_limit(std::size_t bytes);
  // Gives memory that nobody holds back to the system: all free large blocks and free slabs; blocks in the caches of
  // other threads stay. Returns the bytes given back.
  std::size_t release_cached();

  // From now on every new block, of every allocator, is filled with the byte; -1: none. For tests: what reads memory
  // that nobody wrote shows.
  static void fill_allocations(int byte);
  static int fill_byte();

  // The allocator of the CPU; never destroyed. Its limit is STAX_CPU_MEMORY_LIMIT (MiB).
  static CachingAllocator& cpu();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stax::runtime
