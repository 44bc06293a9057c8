// A loaded binary of kernels.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/error_word.h"

namespace stax::runtime {

// Entry point of a CPU kernel. buffers[i] is the address of the first element of the i-th buffer; scalars are raw bits
// (f64, i64, boolean as 0/1); threads is the size of the OpenMP team to use.
using CpuKernel = void (*)(void* const* buffers, const std::int64_t* ints, const std::uint64_t* scalars, int threads,
                           ErrorWord* error);

// What a launch of a GPU kernel must know. Its parameters, in order: the addresses of the buffers, the error word when
// `reports`, sizes and scalars, two scratch addresses (null).
struct EntryPoint {
  std::string symbol;
  int threads = 0;                // of a program
  std::int64_t shared_bytes = 0;  // dynamic shared memory of a program
  bool reports = false;           // takes an error word
};

// The binary with what it needs from the machine. `isa` as in runtime/cpu/isa.h ("avx512"), or "sm_90".
struct ModuleImage {
  std::string name;   // for messages
  std::string bytes;  // the shared object or cubin; already verified against its digest
  std::string isa;
  std::vector<EntryPoint> entries = {};  // of a cubin; none for the CPU
};

// Keeps the code loaded while it lives; shared by all plans that call into it. Thread-safe.
class Module {
 public:
  virtual ~Module() = default;
  virtual const std::string& name() const = 0;
  // Entry point as LaunchArgs takes it: an address on the CPU. InternalError when the module has none of that name.
  virtual void* function(std::string_view symbol) const = 0;
};

}  // namespace stax::runtime
