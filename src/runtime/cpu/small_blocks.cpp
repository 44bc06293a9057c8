#include "runtime/cpu/small_blocks.h"

#include <algorithm>
#include <cstring>

#include "runtime/cpu/poison.h"

namespace stax::runtime {

namespace {
constexpr std::size_t kSlabBytes = 256 * 1024;  // one slab holds blocks of one class
constexpr std::size_t kMovedBytes =
    64 * 1024;  // between a thread's list and the shared one at a time, at most 32 blocks

int moved_at_once(int size_class) {
  return static_cast<int>(std::clamp<std::size_t>(kMovedBytes / class_bytes(size_class), 1, 32));
}
}  // namespace

void BlockList::push(void* block, std::size_t bytes) {
  unpoison(block, sizeof(void*));
  std::memcpy(block, &head_, sizeof head_);
  poison(block, bytes);
  head_ = block;
  ++count_;
}

void* BlockList::pop() {
  void* block = head_;
  if (!block) return nullptr;
  unpoison(block, sizeof(void*));
  std::memcpy(&head_, block, sizeof head_);
  --count_;
  return block;
}

int SmallBlocks::most_kept(int size_class) { return 2 * moved_at_once(size_class); }

bool SmallBlocks::refill(BlockList& list, int size_class, bool& fresh) {
  fresh = false;
  Class& c = classes_[static_cast<std::size_t>(size_class)];
  const std::size_t bytes = class_bytes(size_class);
  const std::lock_guard lock(c.mutex);
  if (c.free.count() == 0) {
    auto* slab = static_cast<char*>(heap_.allocate(kSlabBytes, fresh));
    if (!slab) return false;
    const int blocks = static_cast<int>(kSlabBytes / bytes);
    c.slabs.push_back({slab, blocks, size_class});
    for (int i = blocks; i-- > 0;) c.free.push(slab + static_cast<std::size_t>(i) * bytes, bytes);
  }
  for (int i = moved_at_once(size_class); i-- > 0 && c.free.count() > 0;) list.push(c.free.pop(), bytes);
  return true;
}

void SmallBlocks::give_back(BlockList& list, int size_class, int keep) {
  if (list.count() <= keep) return;
  Class& c = classes_[static_cast<std::size_t>(size_class)];
  const std::size_t bytes = class_bytes(size_class);
  const std::lock_guard lock(c.mutex);
  while (list.count() > keep) c.free.push(list.pop(), bytes);
}

void SmallBlocks::release_free_slabs() {
  for (int i = 0; i < kSizeClasses; ++i) release_free_slabs(classes_[static_cast<std::size_t>(i)], i);
}

void SmallBlocks::release_free_slabs(Class& c, int size_class) {
  const std::lock_guard lock(c.mutex);
  if (c.slabs.empty()) return;
  std::sort(c.slabs.begin(), c.slabs.end(), [](const Slab& a, const Slab& b) { return a.data < b.data; });
  auto slab_of = [&](void* block) {
    auto it = std::upper_bound(c.slabs.begin(), c.slabs.end(), static_cast<char*>(block),
                               [](const char* p, const Slab& s) { return p < s.data; });
    return static_cast<std::size_t>(it - c.slabs.begin()) - 1;
  };
  std::vector<void*> blocks;
  while (void* block = c.free.pop()) blocks.push_back(block);
  std::vector<int> free_of(c.slabs.size(), 0);
  for (void* block : blocks) ++free_of[slab_of(block)];
  for (void* block : blocks) {
    const std::size_t s = slab_of(block);
    if (free_of[s] < c.slabs[s].blocks) c.free.push(block, class_bytes(size_class));
  }
  std::vector<Slab> kept;
  for (std::size_t s = 0; s < c.slabs.size(); ++s) {
    if (free_of[s] == c.slabs[s].blocks)
      heap_.release(c.slabs[s].data);
    else
      kept.push_back(c.slabs[s]);
  }
  c.slabs = std::move(kept);
}

}  // namespace stax::runtime
