// Scheduled kernels to C++ source without any #include.
//
// Each kernel becomes
//   extern "C" void NAME(void* const* buffers, const i64* sizes, const u64* scalars, int threads, ErrorWord* error)
// buffers in the order of Program::buffers, sizes of Program::sizes, scalars as the raw bits of the host's f64, i64 or
// bool in the order of Program::scalars. ErrorWord { long code, origin, index, bound }: code 1 an index out of range,
// 2 an integer division by zero; the first error stays, accesses are clamped.
// Compile with build::cpp_flags; OpenMP and libm must be in the process.
#pragma once
#include <span>
#include <string>

#include "base/decision.h"
#include "loop/schedule.h"

namespace stax::codegen {

struct CppKernel {
  std::string symbol;  // of the function
  const loop::Program* program = nullptr;
  const loop::Kernel* kernel = nullptr;
  const loop::CpuSchedule* schedule = nullptr;
};

// vector_bytes: 16, 32 or 64. Throws InternalError on a kernel that can_emit_cpp refuses.
std::string emit_cpp(std::span<const CppKernel> kernels, int vector_bytes);

base::Decision can_emit_cpp(const loop::Program& p, const loop::Kernel& k);

}  // namespace stax::codegen
