// The helper functions as text, each from its `def` line on.
#pragma once
#include <span>
#include <string_view>

namespace stax::codegen {

struct TritonHelper {
  std::string_view name, text;
};

std::span<const TritonHelper> triton_helpers();

}  // namespace stax::codegen
