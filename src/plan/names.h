// Spellings shared by the plan's printer, its parser and its messages.
#pragma once
#include <string>
#include <string_view>

#include "plan/guard.h"
#include "stax/tensor/dtype.h"

namespace stax::plan {

std::string name_text(std::string_view name);   // bare when it is an identifier and no keyword of guards, else quoted
std::string_view to_text(Guard::Comparison c);  // "<="
std::string scalar_text(Dtype dtype, std::uint64_t bits);  // "2.5", "-3", "true"

}  // namespace stax::plan
