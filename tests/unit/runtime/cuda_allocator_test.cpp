#include <cstdlib>
#include <map>
#include <random>

#include "fake_cuda.h"

namespace stax::runtime::test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Memory of nobody: addresses only.
class Addresses final : public SegmentSource {
 public:
  void* get(std::size_t bytes) override {
    if (used + bytes > total) return nullptr;
    used += bytes;
    ++gets;
    void* p = reinterpret_cast<void*>(next);
    next += bytes + 4 * kMiB;
    live[p] = bytes;
    return p;
  }
  void put(void* data) noexcept override {
    used -= live.at(data);
    live.erase(data);
  }
  Memory memory() override { return {total - used, total}; }
  void fill(void*, std::size_t, int) override {}

  std::size_t total = 512 * kMiB, used = 0, gets = 0;
  std::uintptr_t next = std::uintptr_t{1} << 40;
  std::map<void*, std::size_t> live;
};

TEST(CudaAllocator, SmallBlocksShareASegment) {
  Addresses source;
  DeviceAllocator a(source, "cuda:0");
  void* first = a.allocate(1);
  void* second = a.allocate(513);
  EXPECT_EQ(static_cast<char*>(second) - static_cast<char*>(first), 512);
  EXPECT_EQ(a.stats().in_use, 512u + 1024u);
  EXPECT_EQ(a.stats().reserved, 2 * kMiB);
  EXPECT_EQ(source.gets, 1u);
  a.release(first, 1);
  EXPECT_EQ(a.allocate(200), first) << "a released block is used again at once";
  a.release(first, 200);
  a.release(second, 513);
  EXPECT_EQ(a.stats().in_use, 0u);
  EXPECT_EQ(a.stats().peak_in_use, 1536u);
  EXPECT_EQ(a.release_cached(), 2 * kMiB) << "neighbours have merged into the whole segment";
  EXPECT_TRUE(source.live.empty());
}

TEST(CudaAllocator, SizesOfSegments) {
  Addresses source;
  DeviceAllocator a(source, "cuda:0");
  void* middle = a.allocate(3 * kMiB);
  EXPECT_EQ(a.stats().reserved, 20 * kMiB);
  void* beside = a.allocate(9 * kMiB);
  EXPECT_EQ(a.stats().reserved, 20 * kMiB) << "the rest of the segment";
  void* large = a.allocate(11 * kMiB);
  EXPECT_EQ(a.stats().reserved, 20 * kMiB + 12 * kMiB);
  EXPECT_EQ(a.stats().segments, 2u);
  for (void* p : {middle, beside, large}) a.release(p, 0);
}

TEST(CudaAllocator, BestFit) {
  Addresses source;
  DeviceAllocator a(source, "cuda:0");
  void* big = a.allocate(40 * kMiB);
  void* small = a.allocate(20 * kMiB);
  a.release(big, 0);
  a.release(small, 0);
  EXPECT_EQ(a.allocate(18 * kMiB), small);
  EXPECT_EQ(a.allocate(30 * kMiB), big);
  a.release(small, 0);
  a.release(big, 0);
}

TEST(CudaAllocator, WarmUseAsksTheDriverForNothing) {
  Addresses source;
  DeviceAllocator a(source, "cuda:0");
  std::size_t after_first = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> held;
    for (const std::size_t bytes : {5 * kMiB, std::size_t{700}, 64 * kMiB, std::size_t{90000}, 2 * kMiB})
      held.push_back(a.allocate(bytes));
    for (void* p : held) a.release(p, 0);
    if (round == 0) after_first = source.gets;
  }
  EXPECT_EQ(source.gets, after_first);
}

TEST(CudaAllocator, RandomUseNeverHandsOutTwice) {
  Addresses source;
  DeviceAllocator a(source, "cuda:0");
  std::mt19937 rng(7);
  std::map<char*, std::size_t> held;
  std::size_t in_use = 0;
  for (int step = 0; step < 20000; ++step) {
    if (held.size() < 60 && rng() % 2) {
      const std::size_t bytes = std::size_t{1} << (rng() % 23), extra = rng() % 4096;
      char* p = static_cast<char*>(a.allocate(bytes + extra));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 512, 0u);
      const auto after = held.lower_bound(p);
      ASSERT_TRUE(after == held.end() || p + bytes + extra <= after->first);
      ASSERT_TRUE(after == held.begin() || std::prev(after)->first + std::prev(after)->second <= p);
      held[p] = bytes + extra;
      in_use += bytes + extra;
    } else if (!held.empty()) {
      const auto it = std::next(held.begin(), static_cast<std::ptrdiff_t>(rng() % held.size()));
      in_use -= it->second;
      a.release(it->first, it->second);
      held.erase(it);
    }
    ASSERT_GE(a.stats().in_use, in_use);
    ASSERT_EQ(a.stats().blocks, held.size());
  }
  for (const auto& [p, bytes] : held) a.release(p, bytes);
  a.release_cached();
  EXPECT_TRUE(source.live.empty());
}

TEST(CudaAllocator, OutOfMemorySaysWhatHoldsIt) {
  Addresses source;
  source.total = 64 * kMiB;
  DeviceAllocator a(source, "cuda:0");
  void* p = a.allocate(30 * kMiB);
  void* q = a.allocate(12 * kMiB);
  void* r = a.allocate(1000);
  EXPECT_EQ(
      message_of([&] { a.allocate(50 * kMiB); }),
      "out of memory on cuda:0: asked for 50.0 MiB. Stax holds 3 blocks of 42.0 MiB in all; the largest: 30.0 MiB, "
      "12.0 MiB, 1024 bytes; it has 44.0 MiB from the driver. The driver has 20.0 MiB of 64.0 MiB free. Drop "
      "tensors that are no longer needed, use smaller batches, or end other programs on the card");
  a.release(q, 0);
  void* t = a.allocate(31 * kMiB);
  EXPECT_NE(t, nullptr) << "what is kept is given back first";
  for (void* x : {p, r, t}) a.release(x, 0);
  EXPECT_NE(message_of([&] { a.allocate(SIZE_MAX); }).find("asked for"), std::string::npos);
}

TEST(CudaAllocator, Limit) {
  Addresses source;
  DeviceAllocator a(source, "cuda:0", 10 * kMiB);
  void* p = a.allocate(3 * kMiB);
  EXPECT_EQ(a.stats().reserved, 4 * kMiB) << "a segment of 20 MiB would pass the limit";
  EXPECT_NE(message_of([&] { a.allocate(8 * kMiB); }).find("4.0 MiB from the driver (limit 10.0 MiB)"),
            std::string::npos);
  a.set_limit(0);
  void* q = a.allocate(8 * kMiB);
  a.release(p, 0);
  a.release(q, 0);
}

TEST(CudaAllocator, MemoryOfAGraphStaysItsOwn) {
  Addresses source;
  DeviceAllocator a(source, "cuda:0");
  void* warm = a.allocate(5 * kMiB);
  a.release(warm, 0);
  const std::uint32_t pool = a.begin_pool();
  void* inside = a.allocate(5 * kMiB);
  a.release(inside, 0);
  EXPECT_EQ(a.allocate(5 * kMiB), inside) << "within the capture it is used again";
  a.release(inside, 0);
  EXPECT_NE(message_of([&] { a.allocate(100 * kMiB); }).find("while a CUDA graph is captured"), std::string::npos);
  a.end_pool();
  void* outside = a.allocate(5 * kMiB);
  EXPECT_NE(outside, inside) << "replays of the graph write there";
  a.release(outside, 0);
  EXPECT_EQ(a.release_cached(), 0u) << "the segment is in use by the graph";
  a.free_pool(pool);
  EXPECT_EQ(a.release_cached(), 20 * kMiB);
}

}  // namespace
}  // namespace stax::runtime::test
