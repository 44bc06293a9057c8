#include "runtime/matmul.h"

#include <array>

namespace stax::runtime {

namespace {
constexpr std::array<std::string_view, kActivationCount> kNames{"none", "relu",    "gelu_erf", "gelu_tanh",
                                                                "silu", "sigmoid", "tanh"};
}

std::string_view to_text(Activation a) { return kNames[static_cast<std::size_t>(a)]; }

std::optional<Activation> parse_activation(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<Activation>(i);
  return std::nullopt;
}

}  // namespace stax::runtime
