// What goes wrong in a step, in the user's words.
#pragma once
#include "plan/plan.h"
#include "runtime/error_word.h"

namespace stax::plan {

// The operators that the origins of a launch's error word count.
std::vector<Origin> reported_origins(const Plan& plan, const LaunchStep& s);
// UserError for a kernel's report: an index out of range, an integer division by zero.
[[noreturn]] void raise_report(const runtime::ErrorWord& word, const std::vector<Origin>& origins);
// What a call holds of its device.
struct CallMemory {
  std::uint64_t temporaries = 0, results = 0;                    // bytes
  std::vector<std::pair<std::string, std::uint64_t>> arguments;  // captured tensors too; storages once
};
// `error` again, with the kernel or library call of the step and the user's place; for the allocation of `buffer` (-1:
// none), of the first step that uses it. An OutOfMemory stays one, and says what holds the memory, by owner.
[[noreturn]] void raise_in_step(const Plan& plan, std::size_t step, int buffer, const DeviceError& error,
                                const CallMemory& memory);

}  // namespace stax::plan
