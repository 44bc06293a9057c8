#include "plan/report.h"

#include <fmt/format.h>

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

std::string place_of(const Plan& plan, int origin) {
  if (origin < 0 || static_cast<std::size_t>(origin) >= plan.origins.size()) return {};
  const Origin& o = plan.origins[static_cast<std::size_t>(origin)];
  return o.where.known() ? fmt::format(", {} at {}", o.op, to_string(o.where)) : ", " + o.op;
}

std::string step_text(const Plan& plan, const Step& step) {
  if (const auto* launch = std::get_if<LaunchStep>(&step))
    return fmt::format("kernel {}{}", plan.kernels[static_cast<std::size_t>(launch->kernel)].name,
                       place_of(plan, launch->origin));
  if (const auto* matmul = std::get_if<MatmulStep>(&step))
    return fmt::format("library call {}{}", matmul->name, place_of(plan, matmul->origin));
  return std::holds_alternative<CopyStep>(step) ? "a copy" : "";
}

}  // namespace

void raise_in_step(const Plan& plan, std::size_t step, const DeviceError& error) {
  std::string what;
  for (; step < plan.steps.size() && what.empty(); ++step) what = step_text(plan, plan.steps[step]);
  if (what.empty()) throw DeviceError(fmt::format("{} (in {})", error.what(), plan.name));
  throw DeviceError(fmt::format("{} (in {} of {})", error.what(), what, plan.name));
}

}  // namespace stax::plan
