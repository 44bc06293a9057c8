// Brings two kernels to common outer axes, so that their phases can run for the same unit.
#pragma once
#include <optional>
#include <string>

#include "fusion/sizes.h"
#include "loop/ir.h"

namespace stax::fusion {

struct Aligned {
  loop::Kernel a, b;  // the same outer axes; a pointwise kernel with further axes has them as inner axes of its phase
};

// Null with a reason when no common units are found. `a` comes before `b` in the program. Whether units only read what
// they stored themselves is not checked here.
std::optional<Aligned> align(loop::Program& program, const Sizes& sizes, const loop::Kernel& a, const loop::Kernel& b,
                             std::string& reason);

// Whether a kernel has inner axes: its outer axes are its rows. Others can take any of their axes inside.
bool has_rows(const loop::Kernel& k);

}  // namespace stax::fusion
