// Compilers and kernels of the build tests.
#pragma once
#include <gtest/gtest.h>

#include "build/cpp_compiler.h"
#include "build/kernel_store.h"
#include "runtime/device_runtime.h"

namespace stax::build::test {

inline CppJob job(const std::string& name, const std::string& value) {
  return {name,
          "extern \"C\" void k(void* const* b, const long*, const unsigned long*, int, void*) { *(float*)b[0] = " +
              value + "; }\n"};
}

inline float call(const runtime::Module& module) {
  float out = 0;
  void* buffers[] = {&out};
  reinterpret_cast<runtime::CpuKernel>(module.function("k"))(buffers, nullptr, nullptr, 1, nullptr);
  return out;
}

inline std::shared_ptr<runtime::Module> load(const CppCompiler& compiler, std::string object) {
  return runtime::runtime_for(Device{}).load_module({"test", std::move(object), compiler.target().isa});
}

}  // namespace stax::build::test
