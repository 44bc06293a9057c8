// What goes wrong in a step, in the user's words.
#pragma once
#include "plan/plan.h"
#include "runtime/error_word.h"

namespace stax::plan {

// The operators that the origins of a launch's error word count.
std::vector<Origin> reported_origins(const Plan& plan, const LaunchStep& s);
// UserError for a kernel's report: an index out of range, an integer division by zero.
[[noreturn]] void raise_report(const runtime::ErrorWord& word, const std::vector<Origin>& origins);
// `error` again, with the kernel or library call of the step (for an allocation, of the next one) and the user's place.
[[noreturn]] void raise_in_step(const Plan& plan, std::size_t step, const DeviceError& error);

}  // namespace stax::plan
