// Rows bound by memory, static and with every size dynamic, beside the ceilings measured in between.
//   bench_cpu_memory [--peers FILE] [--out FILE] [--only TEXT]
#include <stax/stax.h>

#include <cmath>

#include "lib/record.h"

using namespace stax;

namespace {

struct Case {
  std::string name, peers_row;
  double bytes;  // inputs read once and outputs written once
  bool writes;   // a large output: the ceiling is the copy's
  double goal;
  std::function<std::function<void()>(CompileOptions)> make;
};

Tensor filled(Shape shape, int seed) { return randn(shape, seed); }

template <class F, class... T>
std::function<void()> bind(F f, CompileOptions options, T... inputs) {
  auto compiled = compile(f, options);
  (void)compiled(inputs...);
  return [=] { (void)compiled(inputs...); };
}

std::vector<Case> cases() {
  std::vector<Case> list;
  list.push_back({"relu(x+y)*2 row sum 8192x4096 f32", "relu(x+y)*2 rowsum 8192x4096 f32", 8.0 * 8192 * 4096, false,
                  0.97, [](CompileOptions o) {
                    return bind([](Tensor x, Tensor y) { return sum(relu(x + y) * 2, -1); }, o, filled({8192, 4096}, 1),
                                filled({8192, 4096}, 2));
                  }});
  list.push_back(
      {"x.T+y 4096x4096 f32", "x.T+y 4096x4096 f32", 12.0 * 4096 * 4096, true, 2, [](CompileOptions o) {
         return bind([](Tensor x, Tensor y) { return x.t() + y; }, o, filled({4096, 4096}, 1), filled({4096, 4096}, 2));
       }});
  list.push_back(
      {"softmax 16384x1000 f32", "softmax 16384x1000 f32", 8.0 * 16384 * 1000, true, 5, [](CompileOptions o) {
         return bind([](Tensor x) { return softmax(x, -1); }, o, filled({16384, 1000}, 1));
       }});
  list.push_back(
      {"layernorm 16384x1024 f32", "layernorm 16384x1024 f32", 8.0 * 16384 * 1024, true, 1.15, [](CompileOptions o) {
         return bind([](Tensor x, Tensor w, Tensor b) { return layer_norm(x, {x.size(1)}, w, b); }, o,
                     filled({16384, 1024}, 1), filled({1024}, 2), filled({1024}, 3));
       }});
  list.push_back({"gelu 2^25 f32", "gelu 2^25 f32", 8.0 * (1 << 25), true, 1.2,
                  [](CompileOptions o) { return bind([](Tensor x) { return gelu(x); }, o, filled({1 << 25}, 1)); }});
  list.push_back(
      {"column sum 8192x4096 f32", "column sum 8192x4096 f32", 4.0 * 8192 * 4096, false, 0, [](CompileOptions o) {
         return bind([](Tensor x) { return sum(x, 0); }, o, filled({8192, 4096}, 1));
       }});
  list.push_back({"full sum 2^26 f32", "full sum 2^26 f32", 4.0 * (1 << 26), false, 0,
                  [](CompileOptions o) { return bind([](Tensor x) { return sum(x); }, o, filled({1 << 26}, 1)); }});
  list.push_back({"cumsum 4096x4096 f32", "cumsum 4096x4096 f32", 8.0 * 4096 * 4096, true, 0, [](CompileOptions o) {
                    return bind([](Tensor x) { return cumsum(x, -1); }, o, filled({4096, 4096}, 1));
                  }});
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Recorder recorder(argc, argv);
  for (const Case& c : cases()) {
    if (!recorder.wants(c.name)) continue;
    const auto fixed = c.make({}), dynamic = c.make({.dynamic = Dynamic::yes});
    const bench::Ceilings before = bench::measure_ceilings();
    const double us = bench::time_us(fixed);
    const double dynamic_us = bench::time_us(dynamic);
    const double again = bench::time_us(fixed);
    const bench::Ceilings after = bench::measure_ceilings();
    const double ceiling = c.writes ? std::max(before.copy, after.copy) : std::max(before.read, after.read);
    const auto share = [&](double t) { return c.bytes / t * 1e6 / ceiling; };
    const auto goal = c.goal > 0 ? std::optional(c.goal) : std::nullopt;
    const double best = std::min(us, again);
    recorder.add({c.name, bench::threads(), best, recorder.peers_of(c.peers_row), goal, share(best), ""});
    char note[64];
    std::snprintf(note, sizeof(note), "static in the same minute: %.0f us", best);
    recorder.add({c.name + " dynamic", bench::threads(), dynamic_us, recorder.peers_of(c.peers_row), goal,
                  share(dynamic_us), note});
  }
  return 0;
}
