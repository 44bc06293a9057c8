// The caching allocator of a device with one queue of work: a block that was released may be handed out again at once,
// since whatever uses it next is queued behind whatever used it before.
#pragma once
#include <stax/tensor/storage.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace stax::runtime {

// Where segments come from. Called under the allocator's lock.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  virtual void* get(std::size_t bytes) = 0;  // null when the device has no more
  // The device may still be working on the memory.
  virtual void put(void* data) noexcept = 0;
  struct Memory {
    std::size_t free = 0, total = 0;
  };
  virtual Memory memory() = 0;  // of the whole device
  virtual void fill(void* data, std::size_t bytes, int byte) = 0;
};

struct DeviceMemoryStats {
  std::size_t in_use = 0;       // bytes that callers hold (as rounded up)
  std::size_t peak_in_use = 0;  // highest in_use since the last reset_peak
  std::size_t reserved = 0;     // bytes got from the driver
  std::size_t limit = 0;        // of reserved; 0: none
  std::size_t blocks = 0;       // that callers hold
  std::uint64_t allocations = 0;
  std::uint64_t segments = 0;  // got from the driver, ever
};

// Blocks are multiples of 512 bytes, and so are their addresses. Those up to 1 MiB are cut from segments of 2 MiB,
// those below 10 MiB from segments of 20 MiB, larger ones get a segment of their own (in steps of 2 MiB); best fit,
// split on allocation, merged with free neighbours on release. No driver call and no host allocation once warm.
// Thread-safe.
class DeviceAllocator final : public Allocator {
 public:
  DeviceAllocator(SegmentSource& source, std::string device, std::size_t limit = 0);
  ~DeviceAllocator() override;  // nothing may be in use

  // DeviceError that says what holds the memory when neither the driver nor the cache has enough.
  void* allocate(std::size_t bytes) override;
  void release(void* data, std::size_t bytes) noexcept override;

  DeviceMemoryStats stats() const;
  void reset_peak();
  void set_limit(std::size_t bytes);  // takes effect at the next segment; 0: none
  // Gives segments that nobody uses back to the driver. Returns their bytes.
  std::size_t release_cached();

  // While the work of a graph is captured: what is allocated belongs to the graph, since every replay writes to it
  // again. Released blocks of a graph serve the same capture only, until free_pool. Segments are not got: DeviceError.
  std::uint32_t begin_pool();
  void end_pool();
  void free_pool(std::uint32_t pool);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stax::runtime
