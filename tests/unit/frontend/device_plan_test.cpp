// Plans on a CUDA device, whose driver is the stand-in of tests/fake_cuda: reports of kernels, empty grids, memory.
#include <gtest/gtest.h>
#include <stax/stax.h>

#include "../runtime/fake_cuda.h"
#include "plan/executable.h"
#include "plan/text.h"
#include "runtime/transfer.h"

namespace stax {
namespace {

using runtime::ErrorCode;
using runtime::ErrorWord;
using runtime::test::fake_counts;
using runtime::test::message_of;

runtime::DeviceRuntime& cuda_runtime() {
  ::setenv("STAX_CUDA_DRIVER", STAX_FAKE_CUDA, 1);
  return runtime::runtime_for({DeviceKind::cuda, 0});
}

// A kernel of one input and one output whose index 9 is out of range.
void out_of_range(const FakeCudaLaunch& launch) {
  runtime::test::report_error(launch.parameters[2],
                              {static_cast<std::int64_t>(ErrorCode::index_out_of_range), 0, 9, 4});
}

constexpr const char* kGather = R"(
plan @lookup {
  input  x f32 rank 1 cuda:0
  bind   s0 in [0, 1000000] hint 4 = x.size(0)
  buffer b0 f32 cuda:0 input x
  buffer b1 f32 cuda:0 output bytes 4*s0
  kernel poi_gather symbol poi_gather module 0 reports
  origin add at "main.cpp":6
  origin gather at "main.cpp":7
  launch poi_gather (b0, b1; s0; ) grid (s0) origins (1) from 1
  return out0 f32 b1[s0] strides (1) offset 0
}
)";

struct Lookup {
  runtime::DeviceRuntime& device = cuda_runtime();
  std::shared_ptr<runtime::Module> module;
  std::unique_ptr<plan::Executable> plan;

  explicit Lookup(const std::string& text = kGather) {
    runtime::test::fake_kernel("poi_gather", 6, out_of_range);
    module = device.load_module({"lookup",
                                 "fake poi_gather",
                                 device.isa(),
                                 {{.symbol = "poi_gather", .threads = 32, .shared_bytes = 0, .reports = true}}});
    plan = std::make_unique<plan::Executable>(plan::parse_plan(text, std::make_shared<symbolic::Context>()),
                                              std::vector{module});
  }
  void run(std::int64_t n) const {
    const Array x = runtime::moved_to(Array::empty({n}, Dtype::f32), device.device());
    const Array* const tensors[] = {&x};
    std::vector<Array> outputs(plan->plan().outputs.size());
    plan->run({tensors, {}}, outputs);
  }
};

const std::string kMessage = "gather: index 9 is out of range [0, 4) at main.cpp:7";

TEST(DevicePlan, ReportsAreRaisedByWhoeverWaits) {
  const Lookup lookup;
  lookup.run(4);
  EXPECT_EQ(message_of([&] { lookup.device.synchronize(); }), kMessage);
  EXPECT_EQ(message_of([&] { lookup.device.synchronize(); }), "no error") << "once";
}

TEST(DevicePlan, ReportsOutliveThePlan) {
  {
    const Lookup lookup;
    lookup.run(4);
  }
  EXPECT_EQ(message_of([&] { cuda_runtime().synchronize(); }), kMessage);
}

TEST(DevicePlan, EmptyGridsAreNotLaunched) {
  const Lookup lookup;
  const std::uint64_t before = fake_counts().launches;
  lookup.run(0);
  EXPECT_EQ(fake_counts().launches, before);
}

TEST(DevicePlan, MemoryThatIsMissingNamesTheKernelAndThePlace) {
  std::string text = kGather;
  text.replace(text.find("bytes 4*s0"), 10, "bytes 4294967296*s0");
  const Lookup lookup(text);
  const std::string message = message_of([&] { lookup.run(4); });
  EXPECT_TRUE(message.starts_with(
      "out of memory on cuda:0: asked for 16.00 GiB for b1 (in kernel poi_gather, gather of lookup) at main.cpp:7. The "
      "call holds 0 bytes in temporaries, 0 bytes in results and 16 bytes in arguments and captured tensors (x 16 "
      "bytes); "
      "other tensors hold "))
      << message;
  EXPECT_TRUE(
      message.ends_with("Drop tensors that are no longer needed, use smaller batches, or end other programs on "
                        "the card"))
      << message;
}

constexpr const char* kTwoResults = R"(
plan @two {
  input  x f32 rank 1 cuda:0
  bind   s0 in [0, 1000000] hint 4 = x.size(0)
  buffer b0 f32 cuda:0 input x
  buffer t0 f32 cuda:0 temporary bytes 8388608
  buffer b1 f32 cuda:0 output bytes 4194304
  buffer b2 f32 cuda:0 output bytes 17179869184
  kernel poi_gather symbol poi_gather module 0 reports
  origin add at "main.cpp":6
  origin gather at "main.cpp":7
  alloc  t0
  launch poi_gather (b0, b1; s0; ) grid (s0) origins (1) from 0
  launch poi_gather (t0, b1; s0; ) grid (s0) origins (1) from 0
  alloc  b2
  launch poi_gather (b0, b2; s0; ) grid (s0) origins (1) from 1
  free   t0
  return out0 f32 b1[s0] strides (1) offset 0
  return out1 f32 b2[s0] strides (1) offset 0
}
)";

// What the call holds by then, and what others do; the step is the one that writes the buffer.
TEST(DevicePlan, MemoryThatIsMissingNamesWhoHoldsIt) {
  const Lookup lookup(kTwoResults);
  const Array other = Array::empty({1 << 20}, Dtype::f32, lookup.device.device());
  try {
    lookup.run(4);
    FAIL();
  } catch (const OutOfMemory& e) {
    const std::string message = e.what();
    EXPECT_NE(
        message.find("for b2 (in kernel poi_gather, gather of two) at main.cpp:7. The call holds 8.0 MiB in "
                     "temporaries, 4.0 MiB in results and 16 bytes in arguments and captured tensors (x 16 bytes); "
                     "other tensors hold 4.0 MiB; "),
        std::string::npos)
        << message;
    EXPECT_EQ(e.where().line, 7);
  }
  EXPECT_NE(message_of([&] { lookup.device.synchronize(); }), "no error") << "of the first launch";
  EXPECT_NE(message_of([&] { lookup.device.synchronize(); }), "no error") << "of the second";
  EXPECT_EQ(message_of([&] { lookup.device.synchronize(); }), "no error");
  const Array afterwards = Array::empty({1 << 20}, Dtype::f32, lookup.device.device());
  EXPECT_NE(afterwards.data(), nullptr) << "the device goes on working";
}

TEST(DeviceMemory, MissingForACopyNamesTheLine) {
  cuda_runtime();
  const Tensor x = zeros({1 << 24});
  runtime::test::fake_settings().memory_bytes = std::size_t{1} << 20;
  const std::string message = message_of([&] { (void)x.to(cuda()); });
  const std::string place = std::string(" at ") + __FILE__ + ":" + std::to_string(__LINE__ - 1);
  runtime::test::fake_settings().memory_bytes = std::size_t{256} << 20;
  EXPECT_TRUE(message.starts_with("out of memory on cuda:0: asked for 64.0 MiB (in to)" + place + ". Stax holds "))
      << message;
  EXPECT_EQ(x.to(cuda()).device(), cuda());
}

}  // namespace
}  // namespace stax
