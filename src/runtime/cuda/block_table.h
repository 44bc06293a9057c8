// The blocks of a device allocator: free ones by size, used ones by address, neighbours by list.
#pragma once
#include <boost/intrusive/set.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace stax::runtime {

// One block of a segment. Free blocks merge only within the pool that they belong to.
struct DeviceBlock : boost::intrusive::set_base_hook<boost::intrusive::optimize_size<true>> {
  char* address = nullptr;
  std::size_t bytes = 0;
  DeviceBlock* previous = nullptr;  // in address order within the segment
  DeviceBlock* next = nullptr;
  std::uint32_t pool = 0;  // 0: everybody's
  bool small = false;      // of a segment of small blocks
  bool free = false;

  bool is_whole_segment() const { return !previous && !next; }
};

// Not thread-safe.
class BlockTable {
 public:
  // Smallest free block of the pool with at least the bytes, taken out; null when there is none.
  DeviceBlock* take(std::uint32_t pool, bool small, std::size_t bytes);
  DeviceBlock* add_segment(char* address, std::size_t bytes, bool small);  // free, not in the table
  // Cuts the block after `bytes`; the rest becomes a free block of the pool.
  void split(DeviceBlock* block, std::size_t bytes, std::uint32_t rest_pool);
  void mark_used(DeviceBlock* block);
  DeviceBlock* find_used(const void* address);
  // Merges a used block with its free neighbours and makes it free.
  void make_free(DeviceBlock* block);
  // Moves all blocks of the pool to pool 0.
  void dissolve(std::uint32_t pool);

  // Calls f(address, bytes) for each segment that is one free block of pool 0, and forgets it.
  template <class F>
  void drop_free_segments(F&& f) {
    for (auto it = free_.begin(); it != free_.end();) {
      DeviceBlock* b = &*it;
      if (b->pool != 0 || !b->is_whole_segment()) {
        ++it;
        continue;
      }
      it = free_.erase(it);
      f(b->address, b->bytes);
      recycle(b);
    }
  }
  template <class F>
  void for_each_used(F&& f) const {
    for (const DeviceBlock& b : used_) f(b);
  }

 private:
  struct BySize {
    bool operator()(const DeviceBlock& a, const DeviceBlock& b) const {
      if (a.pool != b.pool) return a.pool < b.pool;
      if (a.small != b.small) return a.small < b.small;
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.address < b.address;
    }
  };
  struct ByAddress {
    bool operator()(const DeviceBlock& a, const DeviceBlock& b) const { return a.address < b.address; }
  };
  struct AddressKey {
    bool operator()(const DeviceBlock& a, const char* b) const { return a.address < b; }
    bool operator()(const char* a, const DeviceBlock& b) const { return a < b.address; }
  };

  DeviceBlock* fresh();
  void recycle(DeviceBlock* block) {
    block->next = spare_;
    spare_ = block;
  }
  void merge_with_next(DeviceBlock* block);

  std::deque<DeviceBlock> nodes_;  // stable addresses; outlives the sets
  DeviceBlock* spare_ = nullptr;   // nodes without a block, linked by `next`
  boost::intrusive::set<DeviceBlock, boost::intrusive::compare<BySize>> free_;
  boost::intrusive::set<DeviceBlock, boost::intrusive::compare<ByAddress>> used_;
};

}  // namespace stax::runtime
