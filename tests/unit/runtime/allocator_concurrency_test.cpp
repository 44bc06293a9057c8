#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "runtime/cpu/caching_allocator.h"

namespace stax::runtime {
namespace {

// Blocks are made by one thread and released by another, while a third gives memory back.
TEST(AllocatorConcurrency, BlocksTravelBetweenThreads) {
  CachingAllocator allocator;
  struct Block {
    unsigned char* data;
    std::size_t bytes;
    unsigned char mark;
  };
  std::mutex mutex;
  std::vector<Block> shared;
  std::atomic<int> bad{0}, running{4};
  auto work = [&](unsigned seed) {
    std::mt19937 rng(seed);
    for (int i = 0; i < 3000; ++i) {
      const std::size_t bytes = 1 + rng() % (rng() % 8 == 0 ? 300'000 : 2000);
      const auto mark = static_cast<unsigned char>(rng());
      auto* data = static_cast<unsigned char*>(allocator.allocate(bytes));
      std::memset(data, mark, bytes);
      Block taken{data, bytes, mark};
      {
        const std::lock_guard lock(mutex);
        shared.push_back(taken);
        std::swap(shared[rng() % shared.size()], shared.back());
        taken = shared.back();
        if (shared.size() < 30) continue;
        shared.pop_back();
      }
      if (taken.data[0] != taken.mark || taken.data[taken.bytes - 1] != taken.mark) ++bad;
      allocator.release(taken.data, taken.bytes);
    }
    --running;
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(work, t);
  while (running) {
    allocator.release_cached();
    allocator.stats();
    std::this_thread::yield();
  }
  for (auto& t : threads) t.join();
  for (const Block& b : shared) allocator.release(b.data, b.bytes);
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(allocator.stats().in_use, 0u);
}

TEST(AllocatorConcurrency, EndedThreadsLeaveTheirBlocks) {
  CachingAllocator allocator;
  for (int i = 0; i < 20; ++i)
    std::thread([&] {
      std::vector<void*> blocks;
      for (int j = 0; j < 100; ++j) blocks.push_back(allocator.allocate(1000));
      for (void* p : blocks) allocator.release(p, 1000);
    }).join();
  EXPECT_EQ(allocator.stats().in_use, 0u);
  EXPECT_LE(allocator.stats().misses, 2u);
  allocator.release_cached();
  EXPECT_EQ(allocator.stats().cached, 0u);
}

TEST(AllocatorConcurrency, AnAllocatorMayEndBeforeItsThreads) {
  std::atomic<bool> used{false}, gone{false};
  std::thread thread;
  {
    CachingAllocator allocator;
    thread = std::thread([&] {
      allocator.release(allocator.allocate(100), 100);
      used = true;
      while (!gone) std::this_thread::yield();
    });
    while (!used) std::this_thread::yield();
  }
  gone = true;
  thread.join();
}

}  // namespace
}  // namespace stax::runtime
