// A runtime over the stand-in for the driver and the library, and what tests look at.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stax/base/error.h>
#include <stax/tensor/array.h>

#include <atomic>

#include "control.h"
#include "runtime/cuda/cuda_runtime.h"

namespace stax::runtime::test {

// A kernel's report in the error word at `address`, unless one is there. The host may look at the code meanwhile.
inline void report_error(std::uint64_t address, const ErrorWord& report) {
  auto* word = reinterpret_cast<ErrorWord*>(address);
  const std::atomic_ref code(word->code);
  if (code.load() != 0) return;
  word->origin = report.origin, word->index = report.index, word->bound = report.bound;
  code.store(report.code);
}

template <class F>
F* fake_symbol(const char* name) {
  static void* library = dlopen(STAX_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<F*>(dlsym(library, name));
}
inline FakeCudaSettings& fake_settings() { return *fake_symbol<FakeCudaSettings*()>("fake_cuda_settings")(); }
inline FakeCudaCounts fake_counts() { return fake_symbol<FakeCudaCounts()>("fake_cuda_counts")(); }
inline void fake_kernel(const char* name, int parameters, FakeCudaKernel kernel) {
  fake_symbol<void(const char*, int, FakeCudaKernel)>("fake_cuda_kernel")(name, parameters, kernel);
}
inline const CublasLt& fake_cublas() {
  static const CublasLt* library = new CublasLt({STAX_FAKE_CUDA});
  return *library;
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

class FakeCuda : public testing::Test {
 protected:
  FakeCuda() { fake_symbol<void()>("fake_cuda_reset")(); }
  ~FakeCuda() override {
    runtime_.reset();
    driver_.reset();
  }
  CudaDriver& driver() {
    if (!driver_) driver_ = std::make_unique<CudaDriver>(STAX_FAKE_CUDA);
    return *driver_;
  }
  CudaRuntime& runtime() {
    if (!runtime_) runtime_ = std::make_unique<CudaRuntime>(driver(), 0, &fake_cublas);
    return *runtime_;
  }
  // An array in the runtime's memory.
  Array on_device(const Array& a) {
    const Array flat = contiguous_copy(a);
    const auto bytes = static_cast<std::size_t>(flat.numel() * byte_size(flat.dtype()));
    auto storage = std::make_shared<Storage>(runtime().allocator(), bytes, runtime().device());
    runtime().upload(storage->data(), flat.data(), bytes);
    return Array(std::move(storage), flat.dtype(), flat.layout());
  }

 private:
  std::unique_ptr<CudaDriver> driver_;
  std::unique_ptr<CudaRuntime> runtime_;
};

}  // namespace stax::runtime::test
