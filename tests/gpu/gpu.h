// For tests that need a card: skipped with the reason where there is none.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stax/base/error.h>
#include <stax/tensor/array.h>

#include <optional>
#include <random>

#include "runtime/cpu/caching_allocator.h"
#include "runtime/cuda/cuda_runtime.h"

namespace stax::runtime::test {

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    // Memory that nobody wrote holds NaN.
    CachingAllocator::fill_allocations(0xff);
    try {
      runtime_ = &cuda_runtime(0);
    } catch (const DeviceError& e) {
      GTEST_SKIP() << e.what();
    }
  }
  void TearDown() override { CachingAllocator::fill_allocations(-1); }
  CudaRuntime& runtime() { return *runtime_; }

  // The whole storage behind the view.
  Array moved(const Array& a) {
    if (!a.defined()) return a;
    auto storage = std::make_shared<Storage>(runtime().allocator(), a.storage()->bytes(), runtime().device());
    runtime().upload(storage->data(), a.storage()->data(), a.storage()->bytes());
    return Array(std::move(storage), a.dtype(), a.layout());
  }
  void fetch(const Array& from, const Array& to) {
    runtime().download(to.storage()->data(), from.storage()->data(), to.storage()->bytes());
  }

 private:
  CudaRuntime* runtime_ = nullptr;
};

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace stax::runtime::test
