// Small blocks: size classes, a shared list a class, and caches of single threads in front.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "runtime/cpu/segment_heap.h"
#include "runtime/cpu/size_classes.h"

namespace stax::runtime {

// A stack of free blocks, linked through their first bytes.
class BlockList {
 public:
  void push(void* block, std::size_t bytes);
  void* pop();  // null when empty; the block stays poisoned but for its first bytes
  int count() const { return count_; }

 private:
  void* head_ = nullptr;
  int count_ = 0;
};

// Blocks that one thread keeps; only that thread touches it.
struct ThreadBlocks {
  std::array<BlockList, kSizeClasses> lists;
};

// Thread-safe.
class SmallBlocks {
 public:
  explicit SmallBlocks(SegmentHeap& heap) : heap_(heap) {}

  // Moves some blocks of the class into `list`, carving a slab when there are none; false when memory is exhausted.
  bool refill(BlockList& list, int size_class, bool& fresh);
  // Takes `list` down to `keep` blocks.
  void give_back(BlockList& list, int size_class, int keep);
  static int most_kept(int size_class);  // in one thread's list
  // Gives slabs whose blocks are all here back to the heap.
  void release_free_slabs();

 private:
  struct Slab {
    char* data;
    int blocks;
    int size_class;
  };
  struct Class {
    std::mutex mutex;
    BlockList free;
    std::vector<Slab> slabs;
  };
  void release_free_slabs(Class& c, int size_class);

  SegmentHeap& heap_;
  std::array<Class, kSizeClasses> classes_;
};

}  // namespace stax::runtime
