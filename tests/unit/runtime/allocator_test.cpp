#include <gtest/gtest.h>
#include <stax/base/error.h>
#include <stax/tensor/array.h>

#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "runtime/cpu/caching_allocator.h"
#include "runtime/cpu/size_classes.h"

namespace stax::runtime {
namespace {

TEST(SizeClasses, CoverEverySizeWithBoundedWaste) {
  int previous = -1;
  for (std::size_t bytes = 1; bytes <= kSmallLimit; ++bytes) {
    const int c = size_class_of(bytes);
    ASSERT_TRUE(c == previous || c == previous + 1) << bytes;
    previous = c;
    ASSERT_GE(class_bytes(c), bytes);
    ASSERT_EQ(class_bytes(c) % 64, 0u);
    if (c > 0) {
      ASSERT_LT(class_bytes(c - 1), bytes);
    }
    if (bytes > 512) {
      ASSERT_LE(static_cast<double>(class_bytes(c)), static_cast<double>(bytes) * 1.125 + 1);
    }
  }
  EXPECT_EQ(previous, kSizeClasses - 1);
}

TEST(CachingAllocator, ServesTheCpu) {
  const AllocatorStats before = CachingAllocator::cpu().stats();
  const Array a = Array::empty({1000}, Dtype::f32);
  EXPECT_GE(CachingAllocator::cpu().stats().in_use, before.in_use + 4000);
}

TEST(CachingAllocator, AlignedAndReused) {
  CachingAllocator allocator;
  for (const std::size_t bytes : {1u, 64u, 65u, 4000u, 65536u, 65537u, 1u << 20, 5u << 20}) {
    void* p = allocator.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0u);
    std::memset(p, 1, bytes);
    allocator.release(p, bytes);
    EXPECT_EQ(allocator.allocate(bytes), p) << bytes;
    allocator.release(p, bytes);
  }
  EXPECT_EQ(allocator.stats().in_use, 0u);
}

TEST(CachingAllocator, StatisticsAndPeak) {
  CachingAllocator allocator;
  void* a = allocator.allocate(1 << 20);
  const AllocatorStats one = allocator.stats();
  EXPECT_GE(one.in_use, std::size_t{1} << 20);
  EXPECT_LE(one.in_use, (std::size_t{1} << 20) + 8192);
  EXPECT_EQ(one.misses, 1u);
  allocator.release(a, 1 << 20);
  EXPECT_EQ(allocator.stats().in_use, 0u);
  EXPECT_EQ(allocator.stats().peak_in_use, one.in_use);
  EXPECT_GE(allocator.stats().cached, one.in_use);
  a = allocator.allocate(1 << 20);
  EXPECT_EQ(allocator.stats().hits, 1u);
  EXPECT_EQ(allocator.stats().misses, 1u);
  allocator.release(a, 1 << 20);
  allocator.reset_peak();
  EXPECT_EQ(allocator.stats().peak_in_use, 0u);
}

TEST(CachingAllocator, FreedNeighboursMerge) {
  CachingAllocator allocator;
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(allocator.allocate(400'000));
  for (const int i : {1, 3, 5, 7, 0, 2, 4, 6}) allocator.release(blocks[static_cast<std::size_t>(i)], 400'000);
  const AllocatorStats before = allocator.stats();
  void* big = allocator.allocate(3'200'000);
  EXPECT_EQ(allocator.stats().misses, before.misses);
  allocator.release(big, 3'200'000);
}

TEST(CachingAllocator, HugePagesServeOthersWhenFree) {
  CachingAllocator allocator;
  void* usual = allocator.allocate(3'000'000);
  allocator.release(usual, 3'000'000);
  void* huge = allocator.allocate_huge(3'000'000);
  EXPECT_EQ(allocator.stats().misses, 2u);  // not from usual pages
  EXPECT_EQ(allocator.stats().in_use, allocator.stats().peak_in_use);
  std::memset(huge, 1, 3'000'000);
  allocator.release(huge, 3'000'000);
  std::vector<void*> blocks;
  for (int i = 0; i < 2; ++i) blocks.push_back(allocator.allocate(2'900'000));
  EXPECT_EQ(allocator.stats().misses, 2u);
  for (void* p : blocks) allocator.release(p, 2'900'000);
  EXPECT_GT(allocator.release_cached(), 7'000'000u);
  EXPECT_EQ(allocator.stats().cached, 0u);
}

TEST(CachingAllocator, ReleaseGivesEverythingBack) {
  CachingAllocator allocator;
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (std::size_t bytes = 10; bytes < 3'000'000; bytes = bytes * 3 / 2)
    blocks.emplace_back(allocator.allocate(bytes), bytes);
  for (auto [p, bytes] : blocks) allocator.release(p, bytes);
  EXPECT_GT(allocator.stats().cached, 0u);
  EXPECT_GT(allocator.release_cached(), 3'000'000u);
  EXPECT_EQ(allocator.stats().cached, 0u);
}

TEST(CachingAllocator, TheLimitIsKeptAndTheErrorSaysWhatHoldsTheMemory) {
  CachingAllocator allocator(16 << 20, "cpu");
  void* a = allocator.allocate(8 << 20);
  try {
    allocator.allocate(9 << 20);
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_STREQ(
        e.what(),
        "out of memory on cpu: asked for 9.0 MiB. Stax has 8.0 MiB in use and 0 bytes cached (limit 16.0 MiB). Drop "
        "tensors that are no longer needed, use smaller batches, or raise STAX_CPU_MEMORY_LIMIT");
  }
  allocator.release(a, 8 << 20);
  // What is cached goes before the limit refuses.
  void* b = allocator.allocate(15 << 20);
  allocator.release(b, 15 << 20);
}

TEST(CachingAllocator, AbsurdSizesAreErrors) {
  CachingAllocator allocator;
  EXPECT_THROW(allocator.allocate(SIZE_MAX - 5), DeviceError);
  EXPECT_THROW(allocator.allocate(std::size_t{1} << 60), DeviceError);
}

TEST(CachingAllocator, RandomUseNeverOverlaps) {
  CachingAllocator allocator;
  std::mt19937_64 rng(5);
  struct Block {
    unsigned char* data;
    std::size_t bytes;
    unsigned char mark;
  };
  std::vector<Block> live;
  for (int i = 0; i < 20000; ++i) {
    if (live.size() < 60 && rng() % 2) {
      const std::size_t bytes = std::size_t{1} << (rng() % 20);
      const std::size_t exact = bytes + rng() % bytes;
      auto* data = static_cast<unsigned char*>(allocator.allocate(exact));
      const auto mark = static_cast<unsigned char>(rng());
      std::memset(data, mark, exact);
      live.push_back({data, exact, mark});
    } else if (!live.empty()) {
      std::swap(live[rng() % live.size()], live.back());
      const Block b = live.back();
      live.pop_back();
      ASSERT_EQ(b.data[0], b.mark);
      ASSERT_EQ(b.data[b.bytes / 2], b.mark);
      ASSERT_EQ(b.data[b.bytes - 1], b.mark);
      allocator.release(b.data, b.bytes);
    }
    if (i % 5000 == 4999) allocator.release_cached();
  }
  for (const Block& b : live) allocator.release(b.data, b.bytes);
  EXPECT_EQ(allocator.stats().in_use, 0u);
}

}  // namespace
}  // namespace stax::runtime
