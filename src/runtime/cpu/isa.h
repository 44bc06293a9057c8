// Instruction sets of CPU kernels.
#pragma once
#include <string>
#include <string_view>

namespace stax::runtime {

struct CpuTarget {
  std::string isa;        // "avx512" (x86-64-v4), "avx2" (x86-64-v3), "sse2" (x86-64)
  int vector_bytes = 16;  // width of the explicit vectors: 64, 32, 16
  bool operator==(const CpuTarget&) const = default;
};

// What kernels are built for on this machine: its widest set, or the one whose vectors have STAX_VECTOR_BYTES bytes
// (UserError when the CPU lacks it).
CpuTarget host_target();
// Whether the CPU and the operating system can run it. False for an unknown name.
bool cpu_supports(std::string_view isa);
// The compiler's -march= value: "x86-64-v4".
std::string_view march_of(std::string_view isa);

}  // namespace stax::runtime
