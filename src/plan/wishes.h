// Conditions under which a plan's code would count on more than it does: for calls that meet one, code of their own
// may be faster.
#pragma once
#include "plan/guard_check.h"

namespace stax::plan {

// Immutable and thread-safe.
class Wishes {
 public:
  // `wishes` over the bindings of the plan.
  Wishes(const Plan& plan, std::vector<Guard> wishes);
  const std::vector<Guard>& list() const { return plan_->guards; }
  // Whether a call that the plan serves meets one.
  bool met_by(const CallArgs& args) const;
  // "s1 % 4 == 0", "aligned x 16": those that the call meets.
  std::vector<std::string> texts_met_by(const CallArgs& args) const;

 private:
  std::unique_ptr<Plan> plan_;  // inputs, scalars, bindings, and the wishes as guards
  std::unique_ptr<GuardCheck> check_;
};

}  // namespace stax::plan
