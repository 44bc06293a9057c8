// What was compiled, for people.
#pragma once
#include <string>

#include "compile/artifact.h"

namespace stax::compiler {

// Guards with reason and place, kernels with loops and schedule, library calls, refused fusions, memory traffic, times
// of the stages, the plan. Ends with a newline.
std::string explain(const Artifact& artifact);

}  // namespace stax::compiler
