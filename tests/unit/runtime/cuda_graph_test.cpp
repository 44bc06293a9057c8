#include "fake_cuda.h"

namespace stax::runtime::test {
namespace {

using CudaGraphs = FakeCuda;

int runs = 0;
void count(const FakeCudaLaunch&) { ++runs; }

TEST_F(CudaGraphs, ReplaysWhatWasCaptured) {
  runs = 0;
  fake_kernel("count", 2, count);
  const auto module = runtime().load_module({"m", "fake count", "sm_90", {{.symbol = "count", .threads = 32}}});
  LaunchArgs args;
  args.function = module->function("count");
  const auto graph = runtime().capture([&] {
    for (int i = 0; i < 3; ++i) runtime().launch(args);
  });
  runtime().synchronize();
  EXPECT_EQ(runs, 0) << "recorded, not run";
  graph->replay();
  graph->replay();
  runtime().synchronize();
  EXPECT_EQ(runs, 6);
}

TEST_F(CudaGraphs, WhatCannotBeCapturedSaysSo) {
  auto inside = [&](const std::function<void()>& f) { return message_of([&] { (void)runtime().capture(f); }); };
  char byte = 0;
  EXPECT_EQ(inside([&] { runtime().synchronize(); }), "cuda:0: the host cannot wait while a CUDA graph is captured");
  EXPECT_EQ(inside([&] { runtime().download(&byte, &byte, 1); }),
            "cuda:0: values cannot be read while a CUDA graph is captured");
  EXPECT_EQ(inside([&] { runtime().upload(&byte, &byte, 1); }),
            "cuda:0: host memory cannot be copied to the device while a CUDA graph is captured");
  EXPECT_EQ(inside([&] { (void)runtime().capture([] {}); }),
            "cuda:0: another capture cannot begin while a CUDA graph is captured");
  EXPECT_EQ(inside([&] {
              (void)runtime().load_module({"m", "fake", "sm_90", {}});
            }),
            "cuda:0: kernels cannot be loaded while a CUDA graph is captured");
  EXPECT_EQ(inside([&] { (void)runtime().allocator().allocate(5000); }),
            "5120 more bytes are needed on cuda:0 while a CUDA graph is captured, which may not get memory from the "
            "driver. Run the same work once before the capture");
  runtime().synchronize();  // each failure has ended its capture
}

TEST_F(CudaGraphs, MemoryIsHeldWhileTheGraphLives) {
  Allocator& memory = runtime().allocator();
  memory.release(memory.allocate(1 << 20), 1 << 20);
  void* inside = nullptr;
  auto graph = runtime().capture([&] {
    inside = memory.allocate(1 << 20);
    memory.release(inside, 1 << 20);
  });
  void* outside = memory.allocate(1 << 20);
  EXPECT_NE(outside, inside);
  graph.reset();
  void* after = memory.allocate(1 << 20);
  EXPECT_EQ(after, inside);
  memory.release(outside, 0);
  memory.release(after, 0);
}

TEST_F(CudaGraphs, EventsOrderTheWork) {
  fake_kernel("count", 2, count);
  const auto module = runtime().load_module({"m", "fake count", "sm_90", {{.symbol = "count", .threads = 32}}});
  LaunchArgs args;
  args.function = module->function("count");
  CudaEvent begin(runtime().context()), end(runtime().context());
  begin.record();
  runtime().launch(args);
  runtime().launch(args);
  end.record();
  EXPECT_FALSE(end.done());
  end.wait();
  EXPECT_TRUE(end.done());
  EXPECT_EQ(end.milliseconds_since(begin), 2) << "the stand-in's clock counts work";
}

}  // namespace
}  // namespace stax::runtime::test
