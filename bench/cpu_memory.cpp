// Rows bound by memory, with fixed sizes and with every size dynamic, beside the machine's bandwidth.
//   bench_cpu_memory [--peers COMMAND] [--only TEXT] [--out FILE]
#include <stax/stax.h>

#include "lib/ceilings.h"
#include "lib/record.h"

using namespace stax;

namespace {

struct Calls {
  std::function<void()> fixed, dynamic;
};

struct Case {
  std::string name;
  double bytes;  // inputs read once and outputs written once
  bench::Traffic traffic;
  double goal;  // 0: none
  std::function<Calls()> make;
};

template <class F, class... T>
Calls bind(F f, T... inputs) {
  auto call = [=](Dynamic dynamic) {
    auto compiled = compile(f, {.dynamic = dynamic});
    (void)compiled(inputs...);
    return [=] { (void)compiled(inputs...); };
  };
  return {call(Dynamic::no), call(Dynamic::yes)};
}

std::vector<Case> cases() {
  using enum bench::Traffic;
  return {
      {"relu(x+y)*2 row sum 8192x4096", 8.0 * 8192 * 4096, read, 0.97,
       [] {
         return bind([](Tensor x, Tensor y) { return sum(relu(x + y) * 2, -1); }, randn({8192, 4096}, 1),
                     randn({8192, 4096}, 2));
       }},
      {"x.T+y 4096x4096", 12.0 * 4096 * 4096, add, 2,
       [] {
         return bind([](Tensor x, Tensor y) { return x.t() + y; }, randn({4096, 4096}, 1), randn({4096, 4096}, 2));
       }},
      {"softmax 16384x1000", 8.0 * 16384 * 1000, copy, 5,
       [] {
         return bind([](Tensor x) { return softmax(x, -1); }, randn({16384, 1000}, 1));
       }},
      {"layernorm 16384x1024", 8.0 * 16384 * 1024, copy, 1.15,
       [] {
         return bind([](Tensor x, Tensor w, Tensor b) { return layer_norm(x, {x.size(1)}, w, b); },
                     randn({16384, 1024}, 1), randn({1024}, 2), randn({1024}, 3));
       }},
      {"gelu 2^25", 8.0 * (1 << 25), copy, 1.2,
       [] { return bind([](Tensor x) { return gelu(x); }, randn({1 << 25}, 1)); }},
      {"column sum 8192x4096", 4.0 * 8192 * 4096, read, 0,
       [] {
         return bind([](Tensor x) { return sum(x, 0); }, randn({8192, 4096}, 1));
       }},
      {"full sum 2^26", 4.0 * (1 << 26), read, 0,
       [] { return bind([](Tensor x) { return sum(x); }, randn({1 << 26}, 1)); }},
      {"cumsum 4096x4096", 8.0 * 4096 * 4096, copy, 0,
       [] {
         return bind([](Tensor x) { return cumsum(x, -1); }, randn({4096, 4096}, 1));
       }},
      {"argmax 8192x4096", 4.0 * 8192 * 4096, read, 0,
       [] {
         return bind([](Tensor x) { return argmax(x, -1); }, randn({8192, 4096}, 1));
       }},
  };
}

void measure(bench::Recorder& recorder, const Case& c) {
  const Calls calls = c.make();
  bench::Race race;
  const double moved = bench::add_ceiling(race, c.traffic, c.bytes);
  race.add_call("static", calls.fixed);
  race.add_call("dynamic", calls.dynamic);
  recorder.peers().enter(race, c.name);
  const auto figures = race.run();
  recorder.peers().drop(c.name);
  const double ceiling = moved / figures.at("ceiling");
  const auto peers = bench::peers_in(figures, {"ceiling", "static", "dynamic"});
  const auto goal = c.goal > 0 ? std::optional(c.goal) : std::nullopt;
  const double fixed = figures.at("static"), dynamic = figures.at("dynamic");
  recorder.add(
      {.row = c.name, .stax_us = fixed, .peers = peers, .goal = goal, .ceiling_share = c.bytes / fixed / ceiling});
  recorder.add({.row = c.name + " dynamic",
                .stax_us = dynamic,
                .peers = peers,
                .goal = goal,
                .ceiling_share = c.bytes / dynamic / ceiling,
                .static_us = fixed});
}

}  // namespace

int main(int argc, char** argv) {
  bench::Recorder recorder(argc, argv);
  for (const Case& c : cases())
    if (recorder.wants(c.name)) measure(recorder, c);
  return 0;
}
