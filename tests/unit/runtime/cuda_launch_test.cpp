#include <bit>
#include <thread>

#include "fake_cuda.h"

namespace stax::runtime::test {
namespace {

using CudaLaunch = FakeCuda;

struct Seen {
  unsigned grid[3], threads, shared;
  std::vector<std::uint64_t> parameters;
} seen;

void record(const FakeCudaLaunch& launch) {
  std::copy(std::begin(launch.grid), std::end(launch.grid), seen.grid);
  seen.threads = launch.block[0], seen.shared = launch.shared;
  seen.parameters.assign(launch.parameters, launch.parameters + launch.count);
}

TEST_F(CudaLaunch, ParametersInTheOrderOfTheEntryPoint) {
  fake_kernel("k", 8, record);
  const auto module = runtime().load_module(
      {"m", "fake k", "sm_90", {{.symbol = "k", .threads = 96, .shared_bytes = 100, .reports = true}}});
  int x = 0, y = 0;
  ErrorWord word;
  void* buffers[] = {&x, &y};
  const std::int64_t ints[] = {-5, 1LL << 40};
  const std::uint64_t scalars[] = {std::bit_cast<std::uint64_t>(2.5)};
  LaunchArgs args;
  args.function = module->function("k");
  args.buffers = buffers, args.ints = ints, args.scalars = scalars, args.error = &word;
  args.grid[0] = 7, args.grid[1] = 2;
  runtime().launch(args);
  EXPECT_EQ(fake_counts().queued, 1u) << "the launch does not wait";
  runtime().synchronize();
  const auto address = [](const void* p) { return reinterpret_cast<std::uint64_t>(p); };
  EXPECT_EQ(seen.parameters,
            (std::vector<std::uint64_t>{address(&x), address(&y), address(&word), static_cast<std::uint64_t>(-5),
                                        1ULL << 40, std::bit_cast<std::uint64_t>(2.5), 0, 0}));
  EXPECT_EQ(seen.grid[0], 7u);
  EXPECT_EQ(seen.grid[1], 2u);
  EXPECT_EQ(seen.threads, 96u);
  EXPECT_EQ(seen.shared, 100u);
}

TEST_F(CudaLaunch, AnEmptyGridIsNotLaunched) {
  fake_kernel("k", 2, record);
  const auto module = runtime().load_module({"m", "fake k", "sm_90", {{.symbol = "k", .threads = 32}}});
  LaunchArgs args;
  args.function = module->function("k");
  args.grid[0] = 0;
  runtime().launch(args);
  EXPECT_EQ(fake_counts().launches, 0u);
  args.grid[0] = std::int64_t{1} << 31;
  EXPECT_EQ(message_of([&] { runtime().launch(args); }), "kernel k of m: grid 2147483648x1x1");
}

TEST_F(CudaLaunch, ManyParameters) {
  static std::vector<std::uint64_t> all;
  fake_kernel("k", 302, [](const FakeCudaLaunch& l) { all.assign(l.parameters, l.parameters + 302); });
  const auto module = runtime().load_module({"m", "fake k", "sm_90", {{.symbol = "k", .threads = 32}}});
  std::vector<std::int64_t> ints(300);
  for (int i = 0; i < 300; ++i) ints[static_cast<std::size_t>(i)] = i;
  LaunchArgs args;
  args.function = module->function("k");
  args.ints = ints;
  runtime().launch(args);
  runtime().synchronize();
  EXPECT_EQ(all[299], 299u);
  EXPECT_EQ(all[301], 0u);
  ints.resize(600);
  args.ints = ints;
  EXPECT_EQ(message_of([&] { runtime().launch(args); }), "kernel k of m has 602 parameters, more than 512");
}

TEST_F(CudaLaunch, ErrorsNameTheKernel) {
  fake_kernel("softmax_0", 2, record);
  const auto module =
      runtime().load_module({"model", "fake softmax_0", "sm_90", {{.symbol = "softmax_0", .threads = 64}}});
  LaunchArgs args;
  args.function = module->function("softmax_0");
  fake_settings().fail_function = "cuLaunchKernel";
  fake_settings().fail_result = cu::kInvalidValue;
  EXPECT_EQ(message_of([&] { runtime().launch(args); }),
            "cuda:0: launch of kernel softmax_0 of model (grid 1x1x1, 64 threads, 0 bytes shared): "
            "CUDA_ERROR_INVALID_VALUE: invalid argument");
  runtime().launch(args);
  fake_settings().fail_function = "cuStreamSynchronize";
  fake_settings().fail_result = cu::kIllegalAddress;
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }),
            "cuda:0: waiting for the work: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered. The "
            "device cannot be used by this process any more; the last kernels launched, latest first: softmax_0 of "
            "model, softmax_0 of model. With CUDA_LAUNCH_BLOCKING=1 the kernel that fails is the first of them");
}

TEST_F(CudaLaunch, ModulesAreRefusedWithNumbers) {
  fake_kernel("k", 2, record);
  auto load = [&](EntryPoint e, const char* text = "fake k", const char* isa = "sm_90") {
    return message_of([&] { runtime().load_module({"m", text, isa, {e}}); });
  };
  EXPECT_EQ(load({.symbol = "k", .threads = 32, .shared_bytes = 300000}),
            "kernel k of m needs 300000 bytes of shared memory a program; cuda:0 (Fake H200) has 232448");
  EXPECT_EQ(load({.symbol = "k", .threads = 2048}),
            "kernel k of m needs 2048 threads a program; with its registers cuda:0 can run 1 to 1024");
  fake_settings().function_threads = 256;
  EXPECT_EQ(load({.symbol = "k", .threads = 512}),
            "kernel k of m needs 512 threads a program; with its registers cuda:0 can run 1 to 256");
  EXPECT_EQ(load({.symbol = "other", .threads = 32}),
            "cuda:0: kernel other of m: CUDA_ERROR_INVALID_VALUE: invalid argument");
  EXPECT_EQ(load({.symbol = "k", .threads = 32}, "no cubin"),
            "cuda:0: the kernels of m cannot be loaded: CUDA_ERROR_INVALID_VALUE: invalid argument");
  EXPECT_EQ(load({.symbol = "k", .threads = 32}, "fake k", "avx2"),
            "kernels of m were built for avx2, cuda:0 takes sm_90");
  const auto module = runtime().load_module({"m", "fake k", "sm_90", {{.symbol = "k", .threads = 32}}});
  EXPECT_EQ(message_of([&] { module->function("other"); }), "module m has no function other");
}

TEST_F(CudaLaunch, EveryThreadSetsTheContextOnce) {
  fake_kernel("k", 2, record);
  const auto module = runtime().load_module({"m", "fake k", "sm_90", {{.symbol = "k", .threads = 32}}});
  LaunchArgs args;
  args.function = module->function("k");
  const std::uint64_t before = fake_counts().set_currents;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) runtime().launch(args);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(fake_counts().set_currents, before + 4);
  EXPECT_EQ(fake_counts().launches, 400u);
}

}  // namespace
}  // namespace stax::runtime::test
