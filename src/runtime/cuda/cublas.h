// The library cuBLASLt: its functions, and its errors as DeviceError.
#pragma once
#include <string>
#include <vector>

#include "runtime/cuda/cublas_api.h"

namespace stax::runtime {

class CublasLt : public lt::Functions {
 public:
  // Opens the first of the libraries that is there. DeviceError when none is, or when it lacks a function.
  explicit CublasLt(const std::vector<std::string>& libraries);
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  std::string version_text() const;  // "13.0.2"
};

// The process's library: STAX_CUBLASLT, else libcublasLt.so.13 or .12, where the loader looks or in the CUDA toolkit.
// Throws as the constructor does, at every call.
const CublasLt& cublas_lt();

}  // namespace stax::runtime
