// Timing of short pieces of code.
#pragma once
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stax::runtime {

inline std::int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

struct Timing {
  double median_us = 0, min_us = 0;  // of one run
  int samples = 0;
};

// Runs f in batches of at least `batch_us` for about `total_ms`, after one warm-up run.
template <class F>
Timing measure(F&& f, double total_ms = 200, double batch_us = 50) {
  f();
  std::int64_t start = now_ns();
  f();
  const double once_us = std::max(1e-3, static_cast<double>(now_ns() - start) / 1e3);
  const int repeat = std::max(1, static_cast<int>(batch_us / once_us));
  std::vector<double> samples;
  const std::int64_t end = now_ns() + static_cast<std::int64_t>(total_ms * 1e6);
  do {
    start = now_ns();
    for (int i = 0; i < repeat; ++i) f();
    samples.push_back(static_cast<double>(now_ns() - start) / 1e3 / repeat);
  } while (now_ns() < end || samples.size() < 3);
  std::sort(samples.begin(), samples.end());
  return {samples[samples.size() / 2], samples.front(), static_cast<int>(samples.size())};
}

}  // namespace stax::runtime
