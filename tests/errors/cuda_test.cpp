// What a machine without a card, or with a wrong one, is told.
#include "message.h"

namespace stax::test {
namespace {

const std::string kNoDriver = "no NVIDIA driver: /nonexistent/libcuda.so.1 cannot be opened (";

// In a process of its own: the driver is opened once.
base::ProcessResult doctor(const std::string& driver, std::vector<std::pair<std::string, std::string>> more = {}) {
  more.emplace_back("STAX_CUDA_DRIVER", driver);
  return run_tool({"stax", "doctor"}, std::move(more));
}

TEST(Cuda, WithoutADriverDoctorSaysWhy) {
  const base::ProcessResult r = doctor("/nonexistent/libcuda.so.1");
  EXPECT_NE(r.out.find("none  CUDA       " + kNoDriver), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("none  cuBLASLt   used on CUDA devices only\n"), std::string::npos) << r.out;
}

TEST(Cuda, ItIsAFaultWhereTensorsAreToLieThere) {
  const base::ProcessResult r = doctor("/nonexistent/libcuda.so.1", {{"STAX_DEVICE", "cuda"}});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.out.find("FAULT CUDA       " + kNoDriver), std::string::npos) << r.out;
}

TEST(Cuda, DoctorDescribesTheCard) {
  const base::ProcessResult r = doctor(STAX_FAKE_CUDA, {{"STAX_CUBLASLT", STAX_FAKE_CUDA}});
  EXPECT_NE(r.out.find("ok    CUDA       driver for CUDA 13.0, 1 device\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("ok    cuda:0     Fake H200, capability 9.0, 0.2 GiB, 132 multiprocessors\n"), std::string::npos)
      << r.out;
  EXPECT_NE(r.out.find("ok    cuBLASLt   13.0.2\n"), std::string::npos) << r.out;
}

TEST(Cuda, DoctorMissesCublas) {
  const base::ProcessResult r = doctor(STAX_FAKE_CUDA, {{"STAX_CUBLASLT", "/nonexistent/libcublasLt.so"}});
  EXPECT_NE(r.out.find("FAULT cuBLASLt   matrix products on CUDA need cuBLASLt: /nonexistent/libcublasLt.so cannot be "
                       "opened ("),
            std::string::npos)
      << r.out;
}

TEST(Cuda, ProgramsSayWhy) {
  const ScopedVariable driver("STAX_CUDA_DRIVER", "/nonexistent/libcuda.so.1");
  auto text_of = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const DeviceError& e) {
      return e.what();
    }
    return "no error";
  };
  const Tensor x = ones({2});
  EXPECT_TRUE(text_of([&] { (void)x.to(cuda()); }).starts_with(kNoDriver));
  set_default_device(cuda());
  EXPECT_TRUE(text_of([] { (void)zeros({2}); }).starts_with(kNoDriver));
  EXPECT_TRUE(text_of([] { (void)from_vector<float>({1}, {1}); }).starts_with(kNoDriver));
  set_default_device(cpu);
  EXPECT_TRUE(text_of([] { synchronize(cuda()); }).starts_with(kNoDriver));
}

}  // namespace
}  // namespace stax::test
