// Every float32 through the float32 functions of the prelude, against double references.
//   sweep_math [function | all] [16 | 32 | 64 | all] [flags, default -march=native]
// prints a row for each function and width: largest error in ULP, where, how many values exceed the bound, ns a vector.
// Exit status 1 if a bound is exceeded.
#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../unit/codegen/math_kernel.h"

using namespace stax::codegen;

namespace {

struct Worst {
  double ulp = 0;
  float at = 0;
  std::uint64_t beyond = 0;
};

constexpr std::uint64_t kChunk = 1 << 14, kChunks = (1ull << 32) / kChunk;

void check(const MathFunction& f, const std::vector<float>& x, const std::vector<float>& y,
           const std::vector<double>& reference, Worst& worst) {
  for (std::uint64_t i = 0; i < kChunk; ++i) {
    if (y[i] == static_cast<float>(reference[i]) && y[i] != 0 && worst.ulp >= 0.5) continue;
    const double e = ulp_error(y[i], reference[i]);
    if (e > worst.ulp) worst.ulp = e, worst.at = x[i];
    if (!(e <= f.bound)) ++worst.beyond;
  }
}

// The chunks first, first + step, ...; for all kernels at once, since the reference costs most.
void sweep(const MathFunction& f, const std::vector<Map1*>& kernels, std::uint64_t first, std::uint64_t step,
           std::vector<Worst>& worst) {
  std::vector<float> x(kChunk), y(kChunk), y0(kChunk);
  std::vector<double> reference(kChunk);
  for (std::uint64_t chunk = first; chunk < kChunks; chunk += step) {
    for (std::uint64_t i = 0; i < kChunk; ++i)
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(chunk * kChunk + i));
    for (std::uint64_t i = 0; i < kChunk; ++i) reference[i] = f.reference(x[i]);
    kernels[0](x.data(), y0.data(), kChunk);
    const Worst before = worst[0];
    check(f, x, y0, reference, worst[0]);
    for (std::size_t k = 1; k < kernels.size(); ++k) {
      kernels[k](x.data(), y.data(), kChunk);
      if (std::memcmp(y.data(), y0.data(), kChunk * sizeof(float)) != 0) {
        check(f, x, y, reference, worst[k]);
      } else {  // the same bits: the same errors
        if (worst[0].ulp > before.ulp && worst[0].ulp > worst[k].ulp)
          worst[k].ulp = worst[0].ulp, worst[k].at = worst[0].at;
        worst[k].beyond += worst[0].beyond - before.beyond;
      }
    }
  }
}

// Nanoseconds a vector over a buffer in the first-level cache, uniform inputs in [-8, 8) (positive for logarithms).
double time_of(const MathFunction& f, Map1* kernel, int lanes) {
  std::vector<float> x(2048), y(2048);
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(f.name.starts_with("log") ? 0.01f : -8.0f, 8.0f);
  for (float& v : x) v = uniform(generator);
  double best = 1e9;
  for (int repeat = 0; repeat < 200; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) kernel(x.data(), y.data(), 2048);
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  return best / (20.0 * 2048 / lanes);
}

bool run(const MathFunction& f, const std::vector<int>& widths, std::string_view flags, bool only_time) {
  const std::string_view snippets[] = {"loadstore", f.snippet};
  const std::string_view names[] = {f.name};
  std::vector<MathKernel> built;
  std::vector<Map1*> kernels;
  for (const int width : widths) {
    built.emplace_back(snippets, map_bodies(names), width, flags);
    kernels.push_back(built.back().function<Map1>("map_" + std::string(f.name)));
  }
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::vector<Worst>> worst(threads, std::vector<Worst>(widths.size()));
  if (!only_time) {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < threads; ++t) pool.emplace_back([&, t] { sweep(f, kernels, t, threads, worst[t]); });
  }
  bool good = true;
  for (std::size_t k = 0; k < widths.size(); ++k) {
    Worst w;
    for (const auto& part : worst) {
      if (part[k].ulp > w.ulp) w.ulp = part[k].ulp, w.at = part[k].at;
      w.beyond += part[k].beyond;
    }
    good = good && w.beyond == 0;
    fmt::print("| {} | {} | {:.3f} | {:a} | {} | {:.2f} |\n", f.name, widths[k], w.ulp, w.at, w.beyond,
               time_of(f, kernels[k], widths[k] / 4));
    std::fflush(stdout);
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view which = argc > 1 ? argv[1] : "all", width = argc > 2 ? argv[2] : "all";
  const std::string_view flags = argc > 3 ? argv[3] : "-march=native";
  std::vector<int> widths = {16, 32, 64};
  if (width != "all") widths = {std::atoi(argv[2])};
  const bool only_time = std::getenv("STAX_SWEEP_TIME_ONLY") != nullptr;
  bool good = true, found = false;
  for (const MathFunction& f : math_functions())
    if (which == "all" || which == f.name) found = true, good = run(f, widths, flags, only_time) && good;
  if (!found) fmt::print(stderr, "no function {}\n", which);
  return good && found ? 0 : 1;
}
