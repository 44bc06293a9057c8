#include "runtime/cuda/block_table.h"

#include <vector>

namespace stax::runtime {

DeviceBlock* BlockTable::fresh() {
  if (!spare_) return &nodes_.emplace_back();
  DeviceBlock* b = spare_;
  spare_ = b->next;
  b->previous = b->next = nullptr;
  b->pool = 0;
  return b;
}

DeviceBlock* BlockTable::take(std::uint32_t pool, bool small, std::size_t bytes) {
  DeviceBlock wanted;
  wanted.pool = pool, wanted.small = small, wanted.bytes = bytes;
  const auto it = free_.lower_bound(wanted);
  if (it == free_.end() || it->pool != pool || it->small != small) return nullptr;
  DeviceBlock* block = &*it;
  free_.erase(it);
  block->free = false;
  return block;
}

DeviceBlock* BlockTable::add_segment(char* address, std::size_t bytes, bool small) {
  DeviceBlock* b = fresh();
  b->address = address, b->bytes = bytes, b->small = small, b->free = false;
  return b;
}

void BlockTable::split(DeviceBlock* block, std::size_t bytes, std::uint32_t rest_pool) {
  DeviceBlock* rest = fresh();
  rest->address = block->address + bytes;
  rest->bytes = block->bytes - bytes;
  rest->small = block->small;
  rest->pool = rest_pool;
  rest->free = true;
  rest->previous = block;
  rest->next = block->next;
  if (rest->next) rest->next->previous = rest;
  block->next = rest;
  block->bytes = bytes;
  free_.insert(*rest);
}

void BlockTable::mark_used(DeviceBlock* block) { used_.insert(*block); }

DeviceBlock* BlockTable::find_used(const void* address) {
  const auto it = used_.find(static_cast<const char*>(address), AddressKey{});
  return it == used_.end() ? nullptr : &*it;
}

void BlockTable::merge_with_next(DeviceBlock* block) {
  DeviceBlock* next = block->next;
  block->bytes += next->bytes;
  block->next = next->next;
  if (block->next) block->next->previous = block;
  recycle(next);
}

void BlockTable::make_free(DeviceBlock* block) {
  used_.erase(used_.iterator_to(*block));
  auto joins = [&](const DeviceBlock* other) { return other && other->free && other->pool == block->pool; };
  if (joins(block->next)) {
    free_.erase(free_.iterator_to(*block->next));
    merge_with_next(block);
  }
  if (joins(block->previous)) {
    block = block->previous;
    free_.erase(free_.iterator_to(*block));
    merge_with_next(block);
  }
  block->free = true;
  free_.insert(*block);
}

void BlockTable::dissolve(std::uint32_t pool) {
  std::vector<DeviceBlock*> freed;
  for (auto it = free_.begin(); it != free_.end();) {
    DeviceBlock* b = &*it;
    if (b->pool != pool) {
      ++it;
      continue;
    }
    it = free_.erase(it);
    b->free = false;
    freed.push_back(b);
  }
  for (DeviceBlock& b : used_)
    if (b.pool == pool) b.pool = 0;
  for (DeviceBlock* b : freed) {
    b->pool = 0;
    used_.insert(*b);
  }
  for (DeviceBlock* b : freed) make_free(b);
}

}  // namespace stax::runtime
