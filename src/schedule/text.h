// The text of scheduled programs: a loop program, then one line for each kernel in order.
//
//   program fn …
//   for red_add_relu_mul_sum schedule cpu { units i0 grain 16384; vector inner; phase 0: unroll 4; phase 1 }
//   for per_amax_sub_exp_sum_div schedule triton { x i0 / 1; warps 4; index 32; phase 0: persistent 1024; … }
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.h"

namespace stax::schedule {

// The lines alone. `schedules` has one entry a kernel, in order.
std::string to_text(const loop::Program& p, const std::vector<KernelSchedule>& schedules);

struct ScheduledProgram {
  loop::Program program;
  std::optional<std::vector<KernelSchedule>> schedules;  // nothing: the text has none
};
// UserError with line and column; a text with schedules must have one for each kernel.
ScheduledProgram parse_scheduled(std::string_view text, const std::string& file = "<text>");

}  // namespace stax::schedule
