// Random programs for comparing values before and after fusion.
#pragma once
#include "program_maker.h"

namespace stax::fusion::test {

struct RandomProgram {
  loop::Program program;
  loop::Bindings bindings;
};

// A DAG of about `operators` operators over tensors of rank 1 to 3 with common sizes: pointwise operators with
// broadcasts, reductions over any axes, scans, casts to half types, transposed, sliced and flipped reads, merged axes,
// gathers, several outputs, writes to inputs.
RandomProgram random_program(std::uint32_t seed, int operators, bool dynamic, bool exact);

}  // namespace stax::fusion::test
