#include <thread>

#include "fake_cuda.h"

namespace stax::runtime::test {
namespace {

using CudaConcurrency = FakeCuda;

void add_one(const FakeCudaLaunch& launch) {
  auto* x = reinterpret_cast<std::int64_t*>(launch.parameters[0]);
  for (std::uint64_t i = 0; i < launch.parameters[2]; ++i) ++x[i];
  if (x[0] % 40 == 0) report_error(launch.parameters[1], {1, 0, x[0], 0});
}

// Every thread has memory, error slots and products of its own; all share the stream, the staging and the caches.
TEST_F(CudaConcurrency, ThreadsDoNotDisturbEachOther) {
  fake_kernel("add_one", 5, add_one);
  const auto module =
      runtime().load_module({"m", "fake add_one", "sm_90", {{.symbol = "add_one", .threads = 32, .reports = true}}});
  std::atomic<int> wrong{0}, raised{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto raising = [&](auto&& f) {
        try {
          f();
        } catch (const UserError&) {
          ++raised;
        }
      };
      for (int round = 0; round < 40; ++round) {
        const std::int64_t n = 1 + (round * 977 + t * 131) % 20000;
        std::vector<std::int64_t> host(static_cast<std::size_t>(n), round), got = host;
        const auto bytes = static_cast<std::size_t>(8 * n);
        void* memory = runtime().allocator().allocate(bytes);
        runtime().upload(memory, host.data(), bytes);
        const auto slot = runtime().error_slot([](const ErrorWord&) { throw UserError("reported"); });
        LaunchArgs args;
        args.function = module->function("add_one");
        args.buffers = {&memory, 1};
        args.ints = {&n, 1};
        args.error = slot->word();
        runtime().launch(args);
        // Another thread's report may be raised here; the values are there then too.
        raising([&] { runtime().download(got.data(), memory, bytes); });
        for (const std::int64_t v : got) wrong += v != round + 1;
        raising([&] { slot->raise_if_reported(); });
        MatmulArgs product;
        float x[4] = {1, 2, 3, static_cast<float>(round)}, y = 0;
        void* operands = runtime().allocator().allocate(1024);
        runtime().upload(operands, x, sizeof(x));
        product.m = product.n = 1, product.k = 4;
        const std::int64_t row[] = {4, 1}, column[] = {1, 1};
        char* out = static_cast<char*>(operands) + 512;
        product.a = {operands, row}, product.b = {operands, column}, product.out = {out, column};
        runtime().matmul(product);
        raising([&] { runtime().download(&y, out, 4); });
        wrong += y != static_cast<float>(14 + round * round);
        runtime().allocator().release(operands, 1024);
        runtime().allocator().release(memory, bytes);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(raised, 4) << "each thread meets 40 once";
  EXPECT_EQ(runtime().memory().stats().blocks, 1u) << "the workspace of the products";
}

}  // namespace
}  // namespace stax::runtime::test
