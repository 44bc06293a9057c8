#include "plan/step_code.h"

#include <algorithm>

#include "plan/guard_check.h"

namespace stax::plan {

PlanCode::PlanCode(const Plan& plan, const std::vector<std::shared_ptr<runtime::Module>>& modules)
    : expressions(bound_symbols(plan)) {
  for (const Kernel& k : plan.kernels) {
    STAX_CHECK(k.module >= 0 && static_cast<std::size_t>(k.module) < modules.size(),
               "kernel " + k.name + " has no module");
    functions_.push_back(modules[static_cast<std::size_t>(k.module)]->function(k.symbol));
  }
  for (const DerivedScalar& d : plan.derived) derived.push_back({d.dtype, expressions.add(d.value)});
  alloc_missing(plan);
  first_step = steps.size();
  for (const Step& s : plan.steps) {
    steps.push_back(std::visit([&](const auto& step) { return code(plan, step); }, s));
    ++next_step_;
  }
  for (const Output& o : plan.outputs) {
    const Buffer& b = plan.buffers[static_cast<std::size_t>(o.view.buffer)];
    outputs.push_back({o.dtype, view(o.view), b.kind == BufferKind::input ? b.input : -1});
  }
}

void PlanCode::alloc_missing(const Plan& plan) {
  std::vector<bool> allocated(plan.buffers.size(), false);
  for (const Step& s : plan.steps)
    if (const auto* a = std::get_if<AllocStep>(&s)) allocated[static_cast<std::size_t>(a->buffer)] = true;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].kind == BufferKind::output && !allocated[i])
      steps.push_back(code(plan, AllocStep{static_cast<int>(i)}));
}

ViewCode PlanCode::view(const View& v) {
  ViewCode c;
  c.buffer = v.buffer;
  c.rank = static_cast<int>(v.sizes.size());
  c.first = static_cast<int>(list.size());
  for (const Expr& e : v.sizes) put(e);
  for (const Expr& e : v.strides) put(e);
  c.offset = expressions.add(v.offset);
  return c;
}

StepCode PlanCode::code(const Plan& plan, const AllocStep& s) {
  return AllocCode{s.buffer, expressions.add(plan.buffers[static_cast<std::size_t>(s.buffer)].bytes)};
}

StepCode PlanCode::code(const Plan&, const FreeStep& s) { return FreeCode{s.buffer}; }

StepCode PlanCode::code(const Plan& plan, const LaunchStep& s) {
  LaunchCode c{};
  c.function = functions_[static_cast<std::size_t>(s.kernel)];
  c.first_buffer = static_cast<int>(list.size()), c.buffers = static_cast<int>(s.buffers.size());
  list.insert(list.end(), s.buffers.begin(), s.buffers.end());
  c.first_int = static_cast<int>(list.size()), c.ints = static_cast<int>(s.ints.size());
  for (const Expr& e : s.ints) put(e);
  c.first_scalar = static_cast<int>(list.size()), c.scalars = static_cast<int>(s.scalars.size());
  list.insert(list.end(), s.scalars.begin(), s.scalars.end());
  c.step = next_step_;
  for (std::size_t i = 0; i < 3; ++i) c.grid[i] = i < s.grid.size() ? expressions.add(s.grid[i]) : -1;
  c.report = -1;
  if (plan.kernels[static_cast<std::size_t>(s.kernel)].reports) {
    c.report = static_cast<int>(reports.size());
    reports.push_back(next_step_);
  }
  most_buffers = std::max(most_buffers, c.buffers);
  most_ints = std::max(most_ints, c.ints);
  most_scalars = std::max(most_scalars, c.scalars);
  return c;
}

StepCode PlanCode::code(const Plan& plan, const MatmulStep& s) {
  MatmulCode c{};
  c.dtype = s.dtype;
  c.a = view(s.a), c.b = view(s.b), c.out = view(s.out);
  c.has_bias = s.bias.has_value(), c.has_residual = s.residual.has_value();
  if (s.bias) c.bias = view(*s.bias);
  if (s.residual) c.residual = view(*s.residual);
  c.activation = s.activation;
  c.scale = s.scale;
  c.weight_input = -1;
  const Buffer& b = plan.buffers[static_cast<std::size_t>(s.b.buffer)];
  // What this plan writes itself changes at every call.
  if (s.b_is_weight && b.kind == BufferKind::input && !plan.inputs[static_cast<std::size_t>(b.input)].written)
    c.weight_input = b.input;
  return c;
}

StepCode PlanCode::code(const Plan& plan, const CopyStep& s) {
  return CopyCode{plan.buffers[static_cast<std::size_t>(s.from.buffer)].dtype,
                  plan.buffers[static_cast<std::size_t>(s.to.buffer)].dtype, view(s.from), view(s.to)};
}

}  // namespace stax::plan
