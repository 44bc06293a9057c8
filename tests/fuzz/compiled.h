// Compiled code for many random graphs at once: few translation units, since a compiler run costs more than a kernel.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "levels.h"

namespace stax::fuzz {

struct CompiledResult {
  std::string problem;  // empty: agrees with the reference at every size
  int calls = 0;
  int kernels = 0;
};

// `units` translation units are compiled at the same time.
std::vector<CompiledResult> check_compiled(std::span<const Case* const> cases, int units = 2);

}  // namespace stax::fuzz
