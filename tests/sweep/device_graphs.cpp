// Random graphs on a device against the reference, at every size that the artifact serves.
//   device_graphs [--device cuda] [--first SEED] [--graphs N] [--threads N] [--out FILE]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <mutex>

#include "../fuzz/levels.h"
#include "base/thread_pool.h"
#include "device/on_device.h"
#include "runtime/device_runtime.h"

namespace {

using namespace stax;
using devicetest::option;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Totals {
  int graphs = 0, dynamic = 0, calls = 0, kernels = 0;
  std::vector<std::string> problems;
};

struct Prepared {
  std::unique_ptr<fuzz::Case> test;
  // With promises about sizes and alignment, and without, which the calls fall back to; made when needed.
  std::shared_ptr<const compiler::Artifact> artifact, plain;
  std::vector<fuzz::Outcome> expected;  // one for each of the sizes
  std::string problem;
  double seconds = 0;

  std::vector<Array> tensors(const std::vector<std::int64_t>& sizes) const {
    std::vector<Array> list;
    const std::vector<Array> all = test->inputs(sizes);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!test->is_scalar(i)) list.push_back(all[i]);
    return list;
  }
  std::shared_ptr<const compiler::Artifact> compile(Device device, bool promises) const {
    compiler::Settings settings = test->settings();
    settings.promises = promises;
    return compiler::compile_graph(devicetest::on_device(test->graph().graph, device), settings,
                                   compiler::Session::of(""), devicetest::facts_of(tensors(test->sizes().front())));
  }
};

Prepared prepare(std::uint64_t seed, Device device) {
  Prepared p;
  const auto start = std::chrono::steady_clock::now();
  try {
    p.test = std::make_unique<fuzz::Case>(fuzz::draw_recipe(seed));
    p.artifact = p.compile(device, true);
    if (p.test->sizes().size() > 1) p.plain = p.compile(device, false);
    for (const auto& sizes : p.test->sizes()) p.expected.push_back(p.test->reference(sizes));
  } catch (const std::exception& e) {
    p.problem = e.what();
  }
  p.seconds = seconds_since(start);
  return p;
}

devicetest::Result call(const Prepared& p, Device device, std::span<const Array> tensors,
                        std::span<const plan::ScalarValue> scalars, int poison) {
  try {
    return devicetest::run(p.artifact->executable, device, tensors, scalars, poison);
  } catch (const devicetest::PromiseFailed&) {
    if (!p.plain) throw;
    return devicetest::run(p.plain->executable, device, tensors, scalars, poison);
  }
}

void check(const Prepared& p, Device device, Totals& totals) {
  int poison = 0xff;
  for (std::size_t n = 0; n < p.expected.size(); ++n) {
    const auto& sizes = p.test->sizes()[n];
    const std::vector<Array> all = p.test->inputs(sizes), tensors = p.tensors(sizes);
    std::vector<plan::ScalarValue> scalars;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (p.test->is_scalar(i)) scalars.push_back(fuzz::scalar_value(all[i]));
    const devicetest::Result result = call(p, device, tensors, scalars, poison);
    ++totals.calls;
    poison = 0x55;
    if (result.outputs.empty()) continue;  // nothing is executed
    fuzz::Outcome actual{result.outputs, {}};
    std::size_t next = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      actual.inputs.push_back(p.test->is_scalar(i) ? all[i] : result.inputs[next++]);
    if (const std::string text = p.test->difference(actual, p.expected[n], sizes); !text.empty())
      throw std::runtime_error(fmt::format("at sizes [{}]: {}", fmt::join(sizes, ", "), text));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Device device = parse_device(option(argc, argv, "--device", "cuda"));
  if (!devicetest::exists(device)) return devicetest::kSkipped;
  const auto first = std::stoull(option(argc, argv, "--first", "1"));
  const auto graphs = std::stoull(option(argc, argv, "--graphs", "2000"));
  const int threads = std::stoi(option(argc, argv, "--threads", std::to_string(base::usable_cores())));
  const auto start = std::chrono::steady_clock::now();
  Totals totals;
  static constexpr std::size_t kBatch = 200;  // compiled together
  static constexpr double kSlow = 2;          // seconds
  for (std::size_t begin = 0; begin < graphs && totals.problems.size() < 40; begin += kBatch) {
    std::vector<Prepared> batch(std::min<std::size_t>(kBatch, graphs - begin));
    devicetest::in_parallel(threads, batch.size(),
                            [&](std::size_t i) { batch[i] = prepare(first + begin + i, device); });
    const auto slowest = std::ranges::max_element(batch, {}, &Prepared::seconds);
    std::printf("%llu graphs prepared, %.0f s; slowest of these: seed %llu, %.1f s\n",
                static_cast<unsigned long long>(begin + batch.size()), seconds_since(start),
                static_cast<unsigned long long>(first + begin + static_cast<std::size_t>(slowest - batch.begin())),
                slowest->seconds);
    std::fflush(stdout);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      Prepared& p = batch[i];
      const auto began = std::chrono::steady_clock::now();
      ++totals.graphs;
      try {
        if (!p.problem.empty()) throw std::runtime_error(p.problem);
        totals.dynamic += p.test->recipe().dynamic;
        totals.kernels += static_cast<int>(p.artifact->kernels.size());
        check(p, device, totals);
      } catch (const std::exception& e) {
        totals.problems.push_back(fmt::format("seed {}: {}", first + begin + i, e.what()));
        std::printf("%s\n", totals.problems.back().c_str());
        std::fflush(stdout);
      }
      if (const double seconds = seconds_since(began); seconds > kSlow) {
        std::printf("seed %llu: its calls took %.1f s\n", static_cast<unsigned long long>(first + begin + i), seconds);
        std::fflush(stdout);
      }
    }
  }
  const double seconds = seconds_since(start);
  std::string summary =
      fmt::format("{}: seeds {}..{}: {} graphs ({} dynamic), {} kernels, {} calls, {} differences, {:.0f} s\n",
                  runtime::runtime_for(device).properties().name, first, first + graphs - 1, totals.graphs,
                  totals.dynamic, totals.kernels, totals.calls, totals.problems.size(), seconds);
  std::fputs(summary.c_str(), stdout);
  for (const std::string& p : totals.problems) summary += p + "\n";
  if (const std::string out = option(argc, argv, "--out", ""); !out.empty()) std::ofstream(out) << summary;
  return totals.problems.empty() ? 0 : 1;
}
