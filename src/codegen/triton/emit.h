// Scheduled kernels to Triton source. The text stands alone: it imports triton and libdevice and holds the helper
// functions that it calls.
//
// Compile with enable_fp_fusion and enable_reflect_ftz off (kernels rely on both), sanitize_overflow and debug off.
// Launch `grid` programs in one dimension; a grid of 0 programs is not launched.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/decision.h"
#include "loop/triton_schedule.h"

namespace stax::codegen {

struct TritonParameter {
  enum class Kind : std::uint8_t { buffer, error, size, scalar };
  Kind kind = Kind::buffer;
  int id = -1;  // BufferId; position in Program::sizes; position in Program::scalars
  std::string name;
  std::string type;     // Triton's: "*fp32", "i64"
  int multiple_of = 1;  // promised: of the address in bytes, or of the value
};

struct TritonKernelText {
  std::string function;  // name in the text
  std::string text;
  std::vector<TritonParameter> parameters;                      // in order
  std::vector<std::pair<std::string, std::int64_t>> constants;  // constexpr parameters, after the others
  int warps = 4;
  loop::Expr grid;  // number of programs, over the sizes
};

// Throws InternalError on a kernel that can_emit_triton refuses or a schedule that does not fit. `operators`, when
// given, names the operator behind each value for the comments; else the origins of the program do.
TritonKernelText emit_triton(const loop::Program& p, const loop::Kernel& k, const loop::TritonSchedule& s,
                             const std::vector<std::string>& operators = {});

base::Decision can_emit_triton(const loop::Program& p, const loop::Kernel& k);

}  // namespace stax::codegen
