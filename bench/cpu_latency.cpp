// E1.1 on 64x128: the whole call, the guard check; compile from a cold cache; a new process with a warm cache.
//   bench_cpu_latency [--peers FILE] [--out FILE]       bench_cpu_latency child CACHE_DIR   (what it starts itself)
#include <stax/stax.h>

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

// A thousand calls at a time: one is shorter than the clock's cost.
double call_us(const std::function<void()>& call) {
  return bench::time_us([&] {
           for (int i = 0; i < 1000; ++i) call();
         }) /
         1000;
}

int child(const std::string& cache) {
  const Tensor x = randn({64, 128}, 1), y = randn({64, 128}, 2);
  const auto begin = Clock::now();
  const auto compiled = example({.cache_dir = cache});
  (void)compiled(x, y);
  std::printf("%.1f %llu\n", us_since(begin), static_cast<unsigned long long>(compiled.stats().kernels_built));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "child") return child(argv[2]);
  bench::Recorder recorder(argc, argv);
  const Tensor x = randn({64, 128}, 1), y = randn({64, 128}, 2);
  const auto peers = recorder.peers_of("E1.1 relu(x+y)*2 rowsum 64x128 f32");

  const auto compiled = example({});
  recorder.add({"E1.1 64x128 whole call",
                bench::threads(),
                call_us([&] { (void)compiled(x, y); }),
                peers,
                4.0,
                {},
                "goal in us"});
  const auto empty = compile([](Tensor a, Tensor b) { return std::tuple{a, b}; });
  (void)empty(x, y);
  recorder.add({"E1.1 guard check and dispatch",
                bench::threads(),
                call_us([&] { (void)empty(x, y); }),
                {},
                1.0,
                {},
                "a function of the same arguments that launches nothing and returns both; goal in us"});
  const auto dynamic = example({.dynamic = Dynamic::yes});
  recorder.add({"E1.1 64x128 whole call, dynamic",
                bench::threads(),
                call_us([&] { (void)dynamic(x, y); }),
                peers,
                4.0,
                {},
                "goal in us"});

  double cold = 1e30;
  for (int i = 0; i < 3; ++i) {
    const base::TempDir cache;
    const auto begin = Clock::now();
    const auto fresh = example({.cache_dir = cache.path()});
    (void)fresh(x, y);
    cold = std::min(cold, us_since(begin));
  }
  recorder.add({"E1.1 cold compile to first result", bench::threads(), cold, {}, 0.25e6, {}, "goal in us"});

  const base::TempDir cache;
  double whole = 1e30, inside = 1e30;
  for (int i = 0; i < 6; ++i) {
    const auto begin = Clock::now();
    const base::ProcessResult result = base::run_process({.argv = {argv[0], "child", cache.path().string()}});
    if (i == 0) continue;  // fills the cache
    whole = std::min(whole, us_since(begin));
    inside = std::min(inside, std::stod(result.out));
  }
  char note[96];
  std::snprintf(note, sizeof(note),
                "the process from start to end; of it from compile() to the result %.1f us; goal in us", inside);
  recorder.add({"E1.1 warm start of a new process", bench::threads(), whole, {}, 20e3, {}, note});
  return 0;
}
