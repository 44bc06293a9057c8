#include "plan/wishes.h"

namespace stax::plan {

Wishes::Wishes(const Plan& plan, std::vector<Guard> wishes) : plan_(std::make_unique<Plan>()) {
  plan_->name = plan.name;
  plan_->context = plan.context;
  plan_->inputs = plan.inputs;
  plan_->scalars = plan.scalars;
  plan_->bindings = plan.bindings;
  plan_->guards = std::move(wishes);
  check_ = std::make_unique<GuardCheck>(*plan_);
}

bool Wishes::met_by(const CallArgs& args) const {
  return check_->any(args, [](int) { return true; });
}

std::vector<std::string> Wishes::texts_met_by(const CallArgs& args) const {
  std::vector<std::string> texts;
  check_->any(args, [&](int guard) {
    std::string text = to_text(plan_->guards[static_cast<std::size_t>(guard)], *plan_);
    if (text.starts_with("where ")) text.erase(0, 6);
    texts.push_back(std::move(text));
    return false;
  });
  return texts;
}

}  // namespace stax::plan
