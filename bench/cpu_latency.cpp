// E1.1 on 64x128: the whole call, the guard check; compile from a cold cache; a new process with a warm cache.
//   bench_cpu_latency [--peers COMMAND] [--only TEXT] [--out FILE]
//   bench_cpu_latency child CACHE_DIR      what it starts itself
#include <stax/stax.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/file.h"
#include "base/subprocess.h"
#include "lib/record.h"

using namespace stax;
using Clock = std::chrono::steady_clock;

namespace {

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

auto example(CompileOptions options) {
  return compile([](Tensor x, Tensor y) { return sum(relu(x + y) * 2, -1); }, std::move(options));
}

int child(const std::string& cache) {
  const Tensor x = randn({64, 128}, 1), y = randn({64, 128}, 2);
  const auto begin = Clock::now();
  const auto compiled = example({.cache_dir = cache});
  (void)compiled(x, y);
  std::printf("%.1f\n", us_since(begin));
  return 0;
}

void warm_calls(bench::Recorder& recorder) {
  const Tensor x = randn({64, 128}, 1), y = randn({64, 128}, 2);
  const auto fixed = example({}), dynamic = example({.dynamic = Dynamic::yes});
  const auto empty = compile([](Tensor a, Tensor b) { return std::tuple{a, b}; });
  bench::Race race;
  race.add_call(
      "static", [&] { (void)fixed(x, y); }, 1000);
  race.add_call(
      "dynamic", [&] { (void)dynamic(x, y); }, 1000);
  race.add_call(
      "empty", [&] { (void)empty(x, y); }, 1000);
  recorder.peers().enter(race, "E1.1 64x128");
  const auto figures = race.run();
  recorder.peers().drop("E1.1 64x128");
  const auto peers = bench::peers_in(figures, {"static", "dynamic", "empty"});
  const std::string note = "goal in us";
  recorder.add({.row = "E1.1 64x128", .stax_us = figures.at("static"), .peers = peers, .goal = 4, .note = note});
  recorder.add({.row = "E1.1 64x128 dynamic",
                .stax_us = figures.at("dynamic"),
                .peers = peers,
                .goal = 4,
                .static_us = figures.at("static"),
                .note = note});
  recorder.add({.row = "E1.1 guard check and dispatch",
                .stax_us = figures.at("empty"),
                .goal = 1,
                .note = "a function of the same arguments that launches nothing and returns both; goal in us"});
}

void cold_start(bench::Recorder& recorder) {
  const Tensor x = randn({64, 128}, 1), y = randn({64, 128}, 2);
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const base::TempDir cache;
    const auto begin = Clock::now();
    const auto fresh = example({.cache_dir = cache.path()});
    (void)fresh(x, y);
    times.push_back(us_since(begin));
  }
  std::sort(times.begin(), times.end());
  recorder.add({.row = "E1.1 cold compile to first result",
                .stax_us = times[times.size() / 2],
                .goal = 0.25e6,
                .note = "median of 5 empty caches; goal in us"});
}

void warm_start(bench::Recorder& recorder, const char* program) {
  const base::TempDir cache;
  std::vector<std::pair<double, double>> times;  // of the whole process, of compile and call
  for (int i = 0; i < 21; ++i) {
    const auto begin = Clock::now();
    const base::ProcessResult result = base::run_process({.argv = {program, "child", cache.path().string()}});
    if (i > 0) times.emplace_back(us_since(begin), std::stod(result.out));  // the first fills the cache
  }
  std::sort(times.begin(), times.end());
  const auto [whole, inside] = times[times.size() / 2];
  char note[128];
  std::snprintf(note, sizeof(note),
                "the process from start to end, of it %.0f us from compile() to the result; goal in us", inside);
  recorder.add({.row = "E1.1 warm start of a new process", .stax_us = whole, .goal = 20e3, .note = note});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "child") return child(argv[2]);
  bench::Recorder recorder(argc, argv);
  if (recorder.wants("E1.1 64x128")) warm_calls(recorder);
  if (recorder.wants("E1.1 cold")) cold_start(recorder);
  if (recorder.wants("E1.1 warm")) warm_start(recorder, argv[0]);
  return 0;
}
