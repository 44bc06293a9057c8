#include <cstring>
#include <numeric>
#include <random>

#include "fake_cuda.h"
#include "runtime/transfer.h"

namespace stax::runtime::test {
namespace {

using CudaTransfer = FakeCuda;

std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::uint8_t> v(bytes);
  std::mt19937 rng(seed);
  for (auto& b : v) b = static_cast<std::uint8_t>(rng());
  return v;
}

// Sizes around the chunks, and more chunks than the ring has.
TEST_F(CudaTransfer, EverySizeComesBack) {
  for (const std::size_t bytes : {std::size_t{1}, CudaStaging::kSmall - 1, CudaStaging::kSmall, CudaStaging::kSmall + 1,
                                  CudaStaging::kLarge, CudaStaging::kLarge + 5, 9 * CudaStaging::kLarge + 77}) {
    std::vector<std::uint8_t> sent = pattern(bytes, 1);
    const std::vector<std::uint8_t> kept = sent;
    void* memory = runtime().allocator().allocate(bytes);
    runtime().upload(memory, sent.data(), bytes);
    std::fill(sent.begin(), sent.end(), 0);  // allowed at once
    std::vector<std::uint8_t> got(bytes);
    runtime().download(got.data(), memory, bytes);
    EXPECT_EQ(got, kept) << bytes;
    runtime().allocator().release(memory, bytes);
  }
}

TEST_F(CudaTransfer, UploadsDoNotWait) {
  const std::vector<std::uint8_t> sent = pattern(1000, 2);
  void* memory = runtime().allocator().allocate(16 * 1000);
  for (std::size_t i = 0; i < 16; ++i) runtime().upload(static_cast<char*>(memory) + 1000 * i, sent.data(), 1000);
  EXPECT_EQ(fake_counts().queued, 16u);
  // The 17th needs a chunk that the device has read.
  runtime().upload(memory, sent.data(), 1000);
  EXPECT_EQ(fake_counts().queued, 16u);
  runtime().allocator().release(memory, 0);
}

TEST_F(CudaTransfer, TheRingIsMadeOnce) {
  void* memory = runtime().allocator().allocate(100);
  char byte = 1;
  for (int i = 0; i < 100; ++i) runtime().upload(memory, &byte, 1);
  EXPECT_EQ(fake_counts().host_allocations, 1u);
  runtime().allocator().release(memory, 0);
}

TEST_F(CudaTransfer, EmptyCopies) {
  runtime().upload(nullptr, nullptr, 0);
  runtime().download(nullptr, nullptr, 0);
  EXPECT_EQ(fake_counts().host_allocations, 0u);
}

TEST_F(CudaTransfer, StridedCopiesOfEveryWidth) {
  std::mt19937 rng(3);
  for (const Dtype dtype : {Dtype::u8, Dtype::bf16, Dtype::f32, Dtype::i64})
    for (int round = 0; round < 60; ++round) {
      const int rank = static_cast<int>(rng() % 5);
      Dims sizes, from_strides, to_strides(static_cast<std::size_t>(rank));
      std::int64_t extent = 1, offset = 0;
      for (int d = 0; d < rank; ++d) {
        sizes.push_back(1 + static_cast<std::int64_t>(rng() % 4));
        from_strides.push_back(static_cast<std::int64_t>(rng() % 7) - 2);  // 0 repeats, negative runs back
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
      const Array memory = Array::empty({offset + extent}, dtype);
      std::memset(memory.data(), 0, memory.storage()->bytes());
      for (std::int64_t i = 0; i < memory.numel(); ++i)
        static_cast<std::uint8_t*>(memory.data())[i * byte_size(dtype)] = static_cast<std::uint8_t>(i + 1);
      const Array from = on_device(memory).with_layout({sizes, from_strides, offset});
      const Array room = Array::empty({step}, dtype);
      std::memset(room.data(), 0, room.storage()->bytes());
      const Array to = on_device(room).with_layout({sizes, to_strides, 0});
      CopyArgs args{from.data(), to.data(), dtype, dtype, sizes, from_strides, to_strides};
      runtime().copy(args);
      runtime().download(room.data(), to.storage()->data(), room.storage()->bytes());
      const Array want = memory.with_layout({sizes, from_strides, offset}),
                  got = room.with_layout({sizes, to_strides, 0});
      for_each_index(sizes, [&](std::span<const std::int64_t> index) {
        EXPECT_EQ(read_f64(got, index), read_f64(want, index)) << to_text(dtype) << to_string(index);
      });
    }
}

TEST_F(CudaTransfer, CopiesDoNotConvert) {
  CopyArgs args;
  args.to_dtype = Dtype::bf16;
  EXPECT_EQ(message_of([&] { runtime().copy(args); }), "a copy from f32 to bf16 on cuda:0");
}

TEST_F(CudaTransfer, TheHostCannotReadDeviceMemory) {
  const Array a = on_device(Array::empty({2, 2}, Dtype::f32));
  const std::string why = "the host reads the memory of a tensor on cuda:0";
  const std::int64_t index[] = {0, 0};
  EXPECT_EQ(message_of([&] { (void)read_f64(a, index); }), why);
  EXPECT_EQ(message_of([&] { (void)read_i64(a, index); }), why);
  EXPECT_EQ(message_of([&] { (void)contiguous_copy(a); }), why);
  EXPECT_EQ(message_of([&] { copy_elements(Array::empty({2, 2}, Dtype::f32), a); }), why);
  EXPECT_EQ(message_of([&] { (void)a.data_as<float>(); }), why);
  EXPECT_NE(a.data(), nullptr);
}

}  // namespace
}  // namespace stax::runtime::test
