#include <bit>
#include <thread>

#include "gpu.h"
#include "kernels.h"

namespace stax::runtime::test {
namespace {

class GpuLaunch : public Gpu {
 protected:
  // out = x + scale·y over n elements of x.
  void scaled_sum(const Array& x, const Array& y, const Array& out, double scale, ErrorSlot& slot) {
    if (!module_) module_ = runtime().load_module(scaled_sum_image());
    void* buffers[] = {x.data(), y.data(), out.data()};
    const std::int64_t n[] = {x.numel()};
    const std::uint64_t scalars[] = {std::bit_cast<std::uint64_t>(scale)};
    LaunchArgs args;
    args.function = module_->function("scaled_sum");
    args.buffers = buffers, args.ints = n, args.scalars = scalars, args.error = slot.word();
    args.grid[0] = (x.numel() + 127) / 128;
    runtime().launch(args);
  }
  static Array floats(std::int64_t n, float first, float step) {
    Array a = Array::empty({n}, Dtype::f32);
    for (std::int64_t i = 0; i < n; ++i) a.data_as<float>()[i] = first + step * static_cast<float>(i);
    return a;
  }
  std::shared_ptr<Module> module_;
  RaiseError raise_ = [](const ErrorWord& w) {
    throw UserError(fmt::format("index {} of {} ({})", w.index, w.bound, w.code));
  };
};

TEST_F(GpuLaunch, AKernelComputes) {
  const Array x = floats(1000, 1, 1), y = floats(1000, 5, 2), out = Array::empty({1000}, Dtype::f32);
  const Array dx = moved(x), dy = moved(y), dout = moved(out);
  const auto slot = runtime().error_slot(raise_);
  scaled_sum(dx, dy, dout, 0.5, *slot);
  fetch(dout, out);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(out.data_as<float>()[i], static_cast<float>(i + 1) + 0.5f * static_cast<float>(5 + 2 * i));
}

TEST_F(GpuLaunch, ReportsAreRaisedWhereTheHostWaits) {
  const Array x = floats(1000, 900, -1), y = floats(1000, 0, 0), out = Array::empty({1000}, Dtype::f32);
  const Array dx = moved(x), dy = moved(y), dout = moved(out);
  const auto slot = runtime().error_slot(raise_);
  scaled_sum(dx, dy, dout, 1, *slot);
  const std::string first = message_of([&] { runtime().synchronize(); });
  EXPECT_TRUE(first.starts_with("index 9") && first.ends_with(" of 7 (1)")) << first;
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }), "no error");
  EXPECT_EQ(out.data_as<float>()[0] == out.data_as<float>()[0], false) << "nothing was copied";
  scaled_sum(dx, dy, dout, 1, *slot);
  EXPECT_NE(message_of([&] { fetch(dout, out); }), "no error");
  EXPECT_EQ(out.data_as<float>()[3], 897) << "the values are there all the same";
  scaled_sum(dx, dy, dout, 1, *slot);
  runtime().context().wait(runtime().context().stream());
  EXPECT_NE(message_of([&] { slot->raise_if_reported(); }), "no error");
  EXPECT_EQ(message_of([&] { runtime().synchronize(); }), "no error");
}

TEST_F(GpuLaunch, ThreadsShareTheStream) {
  const Array x = floats(1 << 16, 1, 0), out = Array::empty({1 << 16}, Dtype::f32);
  const auto slot = runtime().error_slot(raise_);
  const Array warm = moved(x);
  scaled_sum(warm, warm, moved(out), 1, *slot);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const Array dx = moved(x), sum = moved(x), host = Array::empty({1 << 16}, Dtype::f32);
        scaled_sum(dx, dx, sum, t + 1, *slot);
        fetch(sum, host);
        for (int e = 0; e < 1 << 16; e += 1001) wrong += host.data_as<float>()[e] != static_cast<float>(t + 2);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(GpuLaunch, GraphsReplay) {
  const Array x = floats(100, 1, 1), out = Array::empty({100}, Dtype::f32);
  const Array dx = moved(x), sum = moved(x);
  const auto slot = runtime().error_slot(raise_);
  scaled_sum(dx, dx, moved(out), 1, *slot);
  const auto graph = runtime().capture([&] {
    scaled_sum(sum, dx, sum, 1, *slot);
    scaled_sum(sum, dx, sum, 1, *slot);
  });
  for (int i = 0; i < 5; ++i) graph->replay();
  fetch(sum, out);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(out.data_as<float>()[i], 11 * static_cast<float>(i + 1));
}

TEST_F(GpuLaunch, EventsMeasureTheDevice) {
  const Array big = moved(Array::empty({1 << 26}, Dtype::f32)), other = moved(Array::empty({1 << 26}, Dtype::f32));
  CudaEvent begin(runtime().context()), end(runtime().context());
  CopyArgs copy;
  copy.from = big.data(), copy.to = other.data();
  copy.sizes = {big.sizes().data(), 1}, copy.from_strides = copy.to_strides = {big.strides().data(), 1};
  runtime().copy(copy);
  begin.record();
  for (int i = 0; i < 20; ++i) runtime().copy(copy);
  end.record();
  end.wait();
  const double gb_per_second = 20 * 2 * 4e-6 * double(1 << 26) / end.milliseconds_since(begin);
  RecordProperty("copy_GB_per_s", static_cast<int>(gb_per_second));
  EXPECT_GT(gb_per_second, 100);
  EXPECT_LT(gb_per_second, 20000);
}

TEST_F(GpuLaunch, TooMuchSharedMemory) {
  ModuleImage image = scaled_sum_image();
  image.entries[0].shared_bytes = 400000;
  EXPECT_NE(message_of([&] { runtime().load_module(image); }).find("needs 400000 bytes of shared memory"),
            std::string::npos);
}

// Host time of a launch beside the driver's own call.
TEST_F(GpuLaunch, HostTimeOfALaunch) {
  module_ = runtime().load_module(scaled_sum_image());
  LaunchArgs args;
  args.function = module_->function("nothing");
  const CudaContext& context = runtime().context();
  const auto* f = static_cast<const CudaFunction*>(args.function);
  std::uint64_t slots[2] = {};
  void* parameters[] = {&slots[0], &slots[1]};
  std::size_t bytes = sizeof(slots);
  void* extra[] = {reinterpret_cast<void*>(1), slots, reinterpret_cast<void*>(2), &bytes, nullptr};
  auto each = [&](auto&& call) {
    double best = 1e9;
    for (int round = 0; round < 20; ++round) {
      context.wait(context.stream());
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < 500; ++i) call();
      best = std::min(
          best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / 500);
    }
    return best;
  };
  const double array =
      each([&] { context.driver().launch(f->handle, 1, 1, 1, 32, 1, 1, 0, context.stream(), parameters, nullptr); });
  const double block =
      each([&] { context.driver().launch(f->handle, 1, 1, 1, 32, 1, 1, 0, context.stream(), nullptr, extra); });
  const double own = each([&] { runtime().launch(args); });
  fmt::print("launch: driver {:.3f} us (parameter array), {:.3f} us (parameter block); runtime {:.3f} us\n", array,
             block, own);
  EXPECT_LT(own, array + 1);
}

}  // namespace
}  // namespace stax::runtime::test
