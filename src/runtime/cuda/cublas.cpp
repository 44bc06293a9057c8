#include "runtime/cuda/cublas.h"

#include <fmt/format.h>
#include <stax/base/error.h>

#include <cstdlib>

#include "base/env.h"
#include "runtime/cuda/open_library.h"

namespace stax::runtime {

CublasLt::CublasLt(const std::vector<std::string>& libraries) {
  std::string problem;
  void* handle = open_library(libraries, problem);
  if (!handle)
    throw DeviceError(
        fmt::format("matrix products on CUDA need cuBLASLt: {} cannot be opened ({}). Install the CUDA toolkit's "
                    "libraries, or name the file in STAX_CUBLASLT",
                    libraries.front(), problem));
#define X(member, symbol, result, parameters)                                   \
  member = reinterpret_cast<decltype(member)>(library_symbol(handle, #symbol)); \
  if (!member) throw DeviceError(fmt::format("{} has no function {}", libraries.front(), #symbol));
  STAX_CUBLASLT_FUNCTIONS(X)
#undef X
}

std::string CublasLt::version_text() const {
  const std::size_t v = version();
  return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

const CublasLt& cublas_lt() {
  static const CublasLt* library = [] {
    if (const auto own = base::env_text("STAX_CUBLASLT")) return new CublasLt({*own});
    std::vector<std::string> names;
    for (const char* file : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
      names.emplace_back(file);
      for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* root = std::getenv(variable); root && *root)
          names.push_back(fmt::format("{}/lib64/{}", root, file));
      names.push_back(fmt::format("/usr/local/cuda/lib64/{}", file));
    }
    return new CublasLt(names);
  }();
  return *library;
}

}  // namespace stax::runtime
