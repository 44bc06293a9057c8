// Triton functions that generated kernels call. A kernel's text carries those that it needs.
#pragma once
#include <string>
#include <string_view>

namespace stax::codegen {

// The text of every helper that `body` mentions by name, and of all that these need, needs first.
std::string triton_helpers_for(std::string_view body);

}  // namespace stax::codegen
