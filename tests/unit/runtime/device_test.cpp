#include <gtest/gtest.h>
#include <stax/base/error.h>
#include <stax/tensor/array.h>

#include <cstdlib>

#include "runtime/cpu/isa.h"
#include "runtime/cpu/threads.h"
#include "runtime/device_runtime.h"
#include "runtime/null/null_runtime.h"
#include "runtime/timing.h"

namespace stax::runtime {
namespace {

TEST(Device, TheNullDeviceHoldsNothing) {
  const Device null{DeviceKind::null_gpu, 0};
  const Array a = Array::empty({1 << 20, 1 << 20}, Dtype::f32, null);
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_EQ(a.storage()->bytes(), std::size_t{4} << 40);
  DeviceRuntime& runtime = runtime_for(null);
  EXPECT_FALSE(runtime.executes());
  EXPECT_EQ(runtime.isa(), "sm_90");
  EXPECT_THROW(runtime.load_module({"k", "", "avx2"}), DeviceError);
  const auto before = null_counts();
  LaunchArgs args;
  args.function = runtime.load_module({"k", "", "sm_90"})->function("k");
  runtime.launch(args);
  EXPECT_EQ(null_counts().launches, before.launches + 1);
}

TEST(Device, CudaIsNotThere) { EXPECT_THROW(runtime_for({DeviceKind::cuda, 0}), DeviceError); }

TEST(Isa, VectorWidthByEnvironment) {
  EXPECT_TRUE(cpu_supports("sse2"));
  EXPECT_FALSE(cpu_supports("avx1024"));
  setenv("STAX_VECTOR_BYTES", "16", 1);
  EXPECT_EQ(host_target(), (CpuTarget{"sse2", 16}));
  unsetenv("STAX_VECTOR_BYTES");
  EXPECT_TRUE(cpu_supports(host_target().isa));
  EXPECT_EQ(march_of("avx512"), "x86-64-v4");
}

TEST(Threads, CountIsSetAndChecked) {
  const int before = num_threads();
  EXPECT_GE(before, 1);
  EXPECT_GE(physical_cores(), 1);
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  EXPECT_EQ(apply_num_threads(), 3);
  EXPECT_THROW(set_num_threads(0), UserError);
  EXPECT_EQ(num_threads(), 3);
  set_num_threads(before);
}

TEST(Modules, RefusedWithAReason) {
  DeviceRuntime& cpu = runtime_for({});
  try {
    cpu.load_module({"plan softmax", "not a shared object", "sse2"});
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("cannot load the kernels of plan softmax: "), std::string::npos) << e.what();
  }
  try {
    cpu.load_module({"plan softmax", "", "avx1024"});
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("plan softmax were built for avx1024, which this CPU does not have"),
              std::string::npos)
        << e.what();
  }
}

TEST(Timing, MeasuresSomething) {
  volatile double x = 1;
  const Timing t = measure(
      [&] {
        for (int i = 0; i < 100; ++i) x = x * 1.0001;
      },
      5);
  EXPECT_GT(t.min_us, 0);
  EXPECT_GE(t.median_us, t.min_us);
}

}  // namespace
}  // namespace stax::runtime
