#include <cstring>
#include <numeric>

#include "gpu.h"

namespace stax::runtime::test {
namespace {

using GpuMemory = Gpu;

TEST_F(GpuMemory, TheCardIsDescribed) {
  const DeviceProperties p = runtime().properties();
  fmt::print("{}: {} multiprocessors, capability {}, L2 {} MiB, shared {} bytes, memory {:.1f} GiB\n", p.name,
             p.multiprocessors, p.capability, p.l2_bytes >> 20, p.shared_bytes, double(p.memory_bytes) / (1 << 30));
  EXPECT_EQ(p.capability, 90);
  EXPECT_GT(p.multiprocessors, 50);
  EXPECT_GE(p.shared_bytes, 227 << 10);
}

TEST_F(GpuMemory, EverySizeComesBack) {
  std::mt19937 rng(1);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, CudaStaging::kSmall, CudaStaging::kSmall + 1,
                                  CudaStaging::kLarge + 5, 11 * CudaStaging::kLarge + 77}) {
    std::vector<std::uint8_t> sent(bytes), got(bytes);
    for (auto& b : sent) b = static_cast<std::uint8_t>(rng());
    const std::vector<std::uint8_t> kept = sent;
    void* memory = runtime().allocator().allocate(bytes);
    runtime().upload(memory, sent.data(), bytes);
    std::fill(sent.begin(), sent.end(), 0);
    runtime().download(got.data(), memory, bytes);
    EXPECT_EQ(got, kept) << bytes;
    runtime().allocator().release(memory, bytes);
  }
}

TEST_F(GpuMemory, NewBlocksAreFilledForTests) {
  void* memory = runtime().allocator().allocate(5000);
  std::vector<std::uint8_t> got(5000);
  runtime().download(got.data(), memory, got.size());
  EXPECT_EQ(got, std::vector<std::uint8_t>(5000, 0xff));
  runtime().allocator().release(memory, 5000);
}

TEST_F(GpuMemory, StridedCopiesOfEveryWidth) {
  std::mt19937 rng(3);
  for (const Dtype dtype : {Dtype::u8, Dtype::bf16, Dtype::f32, Dtype::i64})
    for (int round = 0; round < 40; ++round) {
      const int rank = static_cast<int>(rng() % 11);
      Dims sizes, from_strides, to_strides(static_cast<std::size_t>(rank));
      std::int64_t extent = 1, offset = 0;
      for (int d = 0; d < rank; ++d) {
        sizes.push_back(1 + static_cast<std::int64_t>(rng() % (rank > 5 ? 3 : 9)));
        from_strides.push_back(static_cast<std::int64_t>(rng() % 7) - 2);
        const std::int64_t reach = (sizes.back() - 1) * from_strides.back();
        (reach < 0 ? offset : extent) += reach < 0 ? -reach : reach;
      }
      std::vector<int> order(static_cast<std::size_t>(rank));
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), rng);
      std::int64_t step = 1 + static_cast<std::int64_t>(rng() % 2);
      for (const int d : order) {
        to_strides[static_cast<std::size_t>(d)] = step;
        step *= sizes[static_cast<std::size_t>(d)];
      }
      const Array memory = Array::empty({offset + extent}, dtype), room = Array::empty({step}, dtype);
      std::memset(memory.data(), 0, memory.storage()->bytes());
      std::memset(room.data(), 0, room.storage()->bytes());
      for (std::int64_t i = 0; i < memory.numel(); ++i)
        static_cast<std::uint8_t*>(memory.data())[i * byte_size(dtype)] = static_cast<std::uint8_t>(i + 1);
      const Array from = moved(memory).with_layout({sizes, from_strides, offset}),
                  to = moved(room).with_layout({sizes, to_strides, 0});
      runtime().copy({from.data(), to.data(), dtype, dtype, sizes, from_strides, to_strides});
      fetch(to, room);
      const Array want = memory.with_layout({sizes, from_strides, offset}),
                  got = room.with_layout({sizes, to_strides, 0});
      int wrong = 0;
      for_each_index(
          sizes, [&](std::span<const std::int64_t> index) { wrong += read_f64(got, index) != read_f64(want, index); });
      EXPECT_EQ(wrong, 0) << to_text(dtype) << " " << to_string(sizes);
    }
}

TEST_F(GpuMemory, OutOfMemoryIsAnErrorAndPasses) {
  const auto much = static_cast<std::size_t>(runtime().properties().memory_bytes) * 2;
  const std::string text = message_of([&] { (void)runtime().allocator().allocate(much); });
  EXPECT_TRUE(text.starts_with("out of memory on cuda:0: asked for ")) << text;
  fmt::print("{}\n", text);
  void* after = runtime().allocator().allocate(std::size_t{1} << 30);
  runtime().allocator().release(after, 0);
  EXPECT_GE(runtime().memory().release_cached(), std::size_t{1} << 30);
}

TEST_F(GpuMemory, WarmAllocationsAreCheap) {
  CachingAllocator::fill_allocations(-1);
  Allocator& memory = runtime().allocator();
  double best = 1e9;
  for (int round = 0; round < 50; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i) {
      void* a = memory.allocate(1 << 16);
      void* b = memory.allocate(3 << 20);
      memory.release(a, 0);
      memory.release(b, 0);
    }
    best = std::min(best,
                    std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / 400);
  }
  fmt::print("allocate and release: {:.0f} ns\n", best);
  EXPECT_LT(best, 2000);
}

// Bandwidth of pageable host memory, for the record.
TEST_F(GpuMemory, Bandwidth) {
  const std::size_t bytes = std::size_t{256} << 20;
  std::vector<char> host(bytes, 1);
  void* memory = runtime().allocator().allocate(bytes);
  runtime().upload(memory, host.data(), bytes);
  runtime().synchronize();
  auto time = [&](auto&& f) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    return double(bytes) / std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  };
  const double up = time([&] { runtime().upload(memory, host.data(), bytes), runtime().synchronize(); });
  const double down = time([&] { runtime().download(host.data(), memory, bytes); });
  fmt::print("upload {:.1f} GB/s, download {:.1f} GB/s\n", up, down);
  runtime().allocator().release(memory, bytes);
}

}  // namespace
}  // namespace stax::runtime::test
