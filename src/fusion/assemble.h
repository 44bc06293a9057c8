// Writes two aligned kernels as one: phases in order, phases over the same inner axes merged where what they need is
// ready, results passed on as values.
//
// A load of what an earlier phase of the joined kernel stores becomes the value itself when that is a value of the unit
// or of the same phase; else the value is computed again in the phase that needs it, or, when it is stored anyway and
// costs more than a load, read back. A buffer that nothing else needs is not written.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "fusion/align.h"

namespace stax::fusion {

struct AssembleOptions {
  std::function<bool(loop::BufferId)> needed_elsewhere;  // by outputs or by items other than the two
  bool strict = false;                                   // passing on a half value always rounds it
};

// Null with a reason when the result would not mean the same.
std::optional<loop::Kernel> assemble(loop::Program& program, const Aligned& kernels, const AssembleOptions& options,
                                     std::string& reason);

// Marks the rounding of a value that is passed on while its buffer is stored too. Meaningless, and removed by
// `drop_needless_rounding`, once the buffer is gone.
void drop_needless_rounding(loop::Kernel& k, const std::function<bool(loop::BufferId)>& is_stored);

}  // namespace stax::fusion
