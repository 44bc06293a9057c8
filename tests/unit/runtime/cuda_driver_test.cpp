#include <cstdlib>

#include "fake_cuda.h"

namespace stax::runtime::test {
namespace {

using CudaDriverErrors = FakeCuda;

std::string start(int index = 0) {
  return message_of([&] {
    const CudaDriver driver(STAX_FAKE_CUDA);
    const CudaContext context(driver, index);
  });
}

TEST_F(CudaDriverErrors, NoDriver) {
  const std::string text = message_of([] { const CudaDriver driver("libcuda_of_nobody.so.1"); });
  EXPECT_TRUE(text.starts_with("no NVIDIA driver: libcuda_of_nobody.so.1 cannot be opened (")) << text;
  EXPECT_TRUE(text.ends_with("). Install the driver of the card, or run on the CPU (STAX_DEVICE=cpu)")) << text;
}

TEST_F(CudaDriverErrors, ALibraryThatIsNoDriver) {
  const std::string text = message_of([] { const CudaDriver driver("libm.so.6"); });
  EXPECT_EQ(text, "the NVIDIA driver libm.so.6 has no function cuInit: it is older than CUDA 12.0. Update the driver");
}

TEST_F(CudaDriverErrors, TooOld) {
  fake_settings().driver_version = 11080;
  EXPECT_EQ(start(), "the NVIDIA driver supports CUDA 11.8, Stax needs 12.0 or newer. Update the driver");
}

TEST_F(CudaDriverErrors, NoDevice) {
  fake_settings().devices = 0;
  EXPECT_EQ(start(), "the NVIDIA driver is there, but finds no CUDA device");
  fake_settings().init_result = cu::kNoDevice;
  EXPECT_EQ(start(), "the NVIDIA driver is there, but finds no CUDA device");
}

TEST_F(CudaDriverErrors, IndexOutOfRange) {
  EXPECT_EQ(start(3), "there is no device cuda:3: this machine has 1 CUDA device (cuda:0)");
  fake_settings().devices = 2;
  EXPECT_EQ(start(2), "there is no device cuda:2: this machine has 2 CUDA devices");
}

TEST_F(CudaDriverErrors, AnotherArchitecture) {
  fake_settings().capability_major = 8;
  EXPECT_EQ(start(), "cuda:0 (Fake H200) has compute capability 8.0; kernels are built for 9.0 (sm_90a)");
}

TEST_F(CudaDriverErrors, ContextCannotBeMade) {
  fake_settings().fail_function = "cuDevicePrimaryCtxRetain";
  fake_settings().fail_result = cu::kOutOfMemory;
  EXPECT_EQ(start(), "context of cuda:0: CUDA_ERROR_OUT_OF_MEMORY: out of memory");
}

TEST_F(CudaDriverErrors, NoCublas) {
  const std::string text = message_of([] { const CublasLt library({"libcublasLt_of_nobody.so"}); });
  EXPECT_TRUE(text.starts_with("matrix products on CUDA need cuBLASLt: libcublasLt_of_nobody.so cannot be opened ("))
      << text;
  EXPECT_EQ(message_of([] { const CublasLt library({"libm.so.6"}); }), "libm.so.6 has no function cublasLtCreate");
}

TEST_F(CudaDriverErrors, PropertiesOfTheCard) {
  const DeviceProperties p = runtime().properties();
  EXPECT_EQ(p.name, "Fake H200");
  EXPECT_EQ(p.multiprocessors, 132);
  EXPECT_EQ(p.capability, 90);
  EXPECT_EQ(p.shared_bytes, 227 << 10);
  EXPECT_EQ(p.memory_bytes, std::int64_t{256} << 20);
  EXPECT_EQ(fake_cublas().version_text(), "13.0.2");
}

// Without a driver every entrance says so; no device has been touched.
TEST(CudaMissing, EveryEntranceSaysWhy) {
  if (message_of([] { (void)cuda_driver(); }) == "no error") GTEST_SKIP() << "this machine has an NVIDIA driver";
  const std::string why = "no NVIDIA driver: libcuda.so.1 cannot be opened";
  const Device cuda{DeviceKind::cuda, 0};
  EXPECT_TRUE(message_of([&] { runtime_for(cuda); }).starts_with(why));
  EXPECT_TRUE(message_of([&] { (void)Array::empty({2}, Dtype::f32, cuda); }).starts_with(why));
  EXPECT_EQ(message_of([&] {
              (void)Array::empty({2}, Dtype::f32, {DeviceKind::cuda, 99});
            }),
            "there is no device cuda:99: Stax uses the devices 0 to 15");
}

}  // namespace
}  // namespace stax::runtime::test
