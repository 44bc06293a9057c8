// How the threads of a product with a packed weight share it.
#pragma once
#include <cstdint>

namespace stax::runtime::onednn {

inline constexpr std::int64_t kStrip = 32;  // columns: half a panel of the weight
inline constexpr std::int64_t kRows = 6;    // of a block in registers

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// How a team shares a product: its rows, in blocks, between `rows` members, its columns between `columns`.
struct TeamGrid {
  int rows = 1, columns = 1;
};
// The quickest grid of exactly `threads` members by count: multiplications of the busiest member, then what it reads.
TeamGrid team_grid(int threads, std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace stax::runtime::onednn
