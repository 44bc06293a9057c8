#include "plan/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "plan/uses.h"

namespace stax::plan {

using runtime::ErrorCode;

std::vector<Origin> reported_origins(const Plan& plan, const LaunchStep& s) {
  if (s.origins.empty()) return plan.origins;
  std::vector<Origin> origins;
  for (const int o : s.origins) origins.push_back(plan.origins[static_cast<std::size_t>(o)]);
  return origins;
}

void raise_report(const runtime::ErrorWord& word, const std::vector<Origin>& origins) {
  Origin origin{"kernel", {}};
  if (word.origin >= 0 && word.origin < static_cast<std::int64_t>(origins.size()))
    origin = origins[static_cast<std::size_t>(word.origin)];
  switch (static_cast<ErrorCode>(word.code)) {
    case ErrorCode::index_out_of_range:
      throw UserError(fmt::format("{}: index {} is out of range [0, {})", origin.op, word.index, word.bound),
                      origin.where);
    case ErrorCode::index_out_of_range_wrapping:
      throw UserError(
          fmt::format("{}: index {} is out of range [{}, {})", origin.op, word.index, -word.bound, word.bound),
          origin.where);
    case ErrorCode::division_by_zero:
      throw UserError(fmt::format("{}: integer division by zero", origin.op), origin.where);
    default:
      throw InternalError(fmt::format("{}: a kernel reported error code {}", origin.op, word.code));
  }
}

namespace {

const Origin* origin_of(const Plan& plan, const Step& step) {
  int origin = -1;
  if (const auto* launch = std::get_if<LaunchStep>(&step)) origin = launch->origin;
  if (const auto* matmul = std::get_if<MatmulStep>(&step)) origin = matmul->origin;
  return origin < 0 || static_cast<std::size_t>(origin) >= plan.origins.size()
             ? nullptr
             : &plan.origins[static_cast<std::size_t>(origin)];
}

// "kernel poi_exp, exp"; empty for steps that only manage memory.
std::string step_text(const Plan& plan, const Step& step) {
  std::string text;
  if (const auto* launch = std::get_if<LaunchStep>(&step))
    text = "kernel " + plan.kernels[static_cast<std::size_t>(launch->kernel)].name;
  if (const auto* matmul = std::get_if<MatmulStep>(&step)) text = "library call " + matmul->name;
  if (std::holds_alternative<CopyStep>(step)) text = "a copy";
  if (const Origin* o = origin_of(plan, step)) text += ", " + o->op;
  return text;
}

std::string holders_text(const OutOfMemory& error, const CallMemory& memory) {
  auto arguments = memory.arguments;
  std::ranges::stable_sort(arguments, std::greater<>(), [](const auto& a) { return a.second; });
  std::uint64_t sum = 0;
  std::string largest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    sum += arguments[i].second;
    if (i < 3)
      largest += fmt::format("{}{} {}", i ? ", " : "", arguments[i].first, base::bytes_text(arguments[i].second));
  }
  const std::uint64_t own = memory.temporaries + memory.results + sum;
  return fmt::format(
      "The call holds {} in temporaries, {} in results and {} in arguments and captured tensors{}; other tensors hold "
      "{}; {} "
      "are cached. {}",
      base::bytes_text(memory.temporaries), base::bytes_text(memory.results), base::bytes_text(sum),
      largest.empty() ? "" : " (" + largest + (arguments.size() > 3 ? ", …)" : ")"),
      base::bytes_text(error.bytes().in_use > own ? error.bytes().in_use - own : 0),
      base::bytes_text(error.bytes().cached), error.holders());
}

bool uses(const Step& step, int buffer) {
  const std::vector<int> used = buffers_used(step);
  return std::ranges::find(used, buffer) != used.end();
}

}  // namespace

void raise_in_step(const Plan& plan, std::size_t step, int buffer, const DeviceError& error, const CallMemory& memory) {
  if (buffer >= 0) {
    const auto it = std::ranges::find_if(plan.steps, [&](const Step& s) { return uses(s, buffer); });
    step = static_cast<std::size_t>(it - plan.steps.begin());
  }
  std::string what;
  SourceLoc where;
  for (; step < plan.steps.size() && what.empty(); ++step) {
    what = step_text(plan, plan.steps[step]);
    if (const Origin* o = origin_of(plan, plan.steps[step])) where = o->where;
  }
  what = what.empty() ? plan.name : what + " of " + plan.name;
  if (const auto* memory_error = dynamic_cast<const OutOfMemory*>(&error)) {
    const std::string buffer_text =
        buffer < 0 ? "" : fmt::format(" for {}", plan.buffers[static_cast<std::size_t>(buffer)].name);
    throw OutOfMemory(fmt::format("{}{} (in {})", memory_error->problem(), buffer_text, what),
                      holders_text(*memory_error, memory), memory_error->remedy(), memory_error->bytes(), where);
  }
  throw DeviceError(fmt::format("{} (in {}{}{})", error.what(), what, where.known() ? " at " : "", to_string(where)));
}

}  // namespace stax::plan
