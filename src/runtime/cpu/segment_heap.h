// Large blocks: segments mapped from the system, best fit, split on allocation and merged with free neighbours on
// release.
#pragma once
#include <boost/intrusive/set.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace stax::runtime {

enum class Pages : std::uint8_t { usual, huge };

// Thread-safe. Huge pages save misses of the page table and let the hardware fetch ahead beyond 4 KiB, but their first
// touch can cost a new process milliseconds each: blocks of 4 MiB and more have them, and what asks for them.
class SegmentHeap {
 public:
  explicit SegmentHeap(std::size_t limit) : limit_(limit) {}
  ~SegmentHeap();

  // Null when the system or the limit refuses. `fresh` tells whether a segment had to be mapped.
  void* allocate(std::size_t bytes, bool& fresh, Pages pages = Pages::usual);
  void release(void* data) noexcept;
  // Bytes that allocate(bytes) takes of a segment.
  static std::size_t rounded(std::size_t bytes) { return (bytes + kHeader + kGrain - 1) / kGrain * kGrain; }
  static std::size_t block_bytes(const void* data);

  std::size_t reserved() const;
  std::size_t limit() const;
  void set_limit(std::size_t limit);
  // Unmaps segments that are free as a whole.
  std::size_t release_free_segments();

 private:
  static constexpr std::size_t kHeader = 64, kGrain = 4096;

  // In front of the memory it describes; neighbours in address order within one segment.
  struct alignas(64) Block : boost::intrusive::set_base_hook<boost::intrusive::optimize_size<true>> {
    std::size_t bytes = 0;  // with the header
    Block* previous = nullptr;
    Block* next = nullptr;
    bool free = false;
    Pages pages = Pages::usual;
  };
  static_assert(sizeof(Block) == kHeader);
  struct BySize {
    bool operator()(const Block& a, const Block& b) const { return a.bytes != b.bytes ? a.bytes < b.bytes : &a < &b; }
  };
  struct AtLeast {
    bool operator()(const Block& a, std::size_t bytes) const { return a.bytes < bytes; }
    bool operator()(std::size_t bytes, const Block& a) const { return bytes < a.bytes; }
  };
  using FreeSet = boost::intrusive::set<Block, boost::intrusive::compare<BySize>>;

  FreeSet& free(Pages pages) { return free_[static_cast<std::size_t>(pages)]; }
  Block* take_free(std::size_t bytes, Pages pages);
  Block* map_segment(std::size_t bytes, Pages pages);
  std::size_t release_free_segments(FreeSet& free);
  void split(Block* block, std::size_t bytes);
  Block* merge_with_next(Block* block);

  mutable std::mutex mutex_;
  FreeSet free_[2];  // by pages
  std::size_t reserved_ = 0, limit_;
};

}  // namespace stax::runtime
