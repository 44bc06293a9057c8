// A loaded binary of kernels.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/error_word.h"

namespace stax::runtime {

// Entry point of a CPU kernel. buffers[i] is the address of the first element of the i-th buffer; scalars are raw bits
// (f64, i64, boolean as 0/1); threads is the size of the OpenMP team to use.
using CpuKernel = void (*)(void* const* buffers, const std::int64_t* ints, const std::uint64_t* scalars, int threads,
                           ErrorWord* error);

// The binary with what it needs from the machine. `isa` as in runtime/cpu/isa.h ("avx512"), or "sm_90".
struct ModuleImage {
  std::string name;   // for messages
  std::string bytes;  // the shared object or cubin; already verified against its digest
  std::string isa;
};

// Keeps the code loaded while it lives; shared by all plans that call into it. Thread-safe.
class Module {
 public:
  virtual ~Module() = default;
  virtual const std::string& name() const = 0;
  // Address of an entry point. InternalError when the module has none of that name.
  virtual void* function(std::string_view symbol) const = 0;
};

}  // namespace stax::runtime
