#include <fmt/format.h>

#include <array>

#include "fusion/fusion.h"

namespace stax::fusion {
namespace {

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  double n = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (n >= 1000 && unit + 1 < kUnits.size()) {
    n /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", n, kUnits[unit]);
}

}  // namespace

std::string report(const FusionResult& r) {
  std::string text = fmt::format("{} kernel{} became {}; {} of {} of traffic remain\n", r.kernels_before,
                                 r.kernels_before == 1 ? "" : "s", r.kernels_after, bytes_text(r.bytes_after),
                                 bytes_text(r.bytes_before));
  for (const Refusal& x : r.refusals)
    text += fmt::format("  {} | {}: {} ({} at stake)\n", x.first, x.second, x.reason, bytes_text(x.bytes));
  return text;
}

}  // namespace stax::fusion
