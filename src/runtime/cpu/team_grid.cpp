#include "runtime/cpu/team_grid.h"

namespace stax::runtime::onednn {

TeamGrid team_grid(int threads, std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t blocks = ceil_div(m, kRows), strips = ceil_div(n, kStrip);
  TeamGrid best;
  double least = 0;
  for (int rows = 1; rows <= threads; ++rows) {
    if (threads % rows != 0) continue;
    const int columns = threads / rows;
    const std::int64_t most_blocks = ceil_div(blocks, rows), most_strips = ceil_div(strips, columns);
    // Cycles: 32 multiplications in one, 8 bytes read from the shared cache in one.
    const double products = static_cast<double>(most_blocks * most_strips * kRows * kStrip * k) / 32;
    const double bytes = 4.0 * static_cast<double>((most_blocks * kRows + most_strips * kStrip) * k);
    // The kernels around share rows: what others hold of the rows that a member reads, and of those that it writes and
    // they read, crosses between the cores' own caches.
    const double foreign =
        4.0 * static_cast<double>(most_blocks * kRows * (k + most_strips * kStrip)) * (columns - 1) / columns;
    const double cycles = products + (bytes + foreign) / 8;
    if (rows == 1 || cycles < least) best = {rows, columns}, least = cycles;
  }
  return best;
}

}  // namespace stax::runtime::onednn
