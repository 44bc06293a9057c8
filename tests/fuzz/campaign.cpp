#include "campaign.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "graph/interpret.h"
#include "passes/passes.h"

namespace stax::fuzz {

namespace {

// The seed at work, for a crash.
volatile std::uint64_t current_seed = 0;

void on_crash(int signal) {
  char text[96];
  const int n = std::snprintf(text, sizeof text, "fuzz: signal %d at seed %llu\n", signal,
                              static_cast<unsigned long long>(current_seed));
  if (n > 0) (void)!write(2, text, static_cast<std::size_t>(n));
  std::_Exit(128 + signal);
}

void name_crashes() {
  for (int s : {SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGABRT}) std::signal(s, on_crash);
}

// What a problem is called, without its numbers: shrinking keeps to one fault.
std::string kind_of(const std::string& problem) {
  const std::string level = problem.substr(0, problem.find_first_of(":("));
  std::string kind = level.substr(0, level.find(" at sizes"));
  for (const char* word : {"output", "written input", "read-only", "between", "stride", "shape", "dtype", "(exact)",
                           "(bound", "InternalError", "guard"})
    if (problem.find(word) != std::string::npos) kind += std::string(" ") + word;
  return kind;
}

}  // namespace

std::string problem_of(const Recipe& r, bool compiled) {
  try {
    const Case c(r);
    if (!compiled) return check_loops(c);
    const Case* one = &c;
    return check_compiled({&one, 1}, 1).front().problem;
  } catch (const std::exception& e) {
    return std::string("graph: ") + e.what();
  }
}

Recipe shrink(Recipe r, bool compiled, int most_tries) {
  const std::string kind = kind_of(problem_of(r, compiled));
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const Recipe& candidate : simpler(r)) {
      if (most_tries-- <= 0) return r;
      if (kind_of(problem_of(candidate, compiled)) != kind) continue;
      r = candidate;
      smaller = true;
      break;
    }
  }
  return r;
}

std::string report(const Recipe& original, bool compiled, bool shrink_it) {
  std::string text = fmt::format("seed {} ({}): {}\n", original.seed, original.dynamic ? "dynamic" : "static",
                                 problem_of(original, compiled));
  const Recipe small = shrink_it ? shrink(original, compiled, compiled ? 80 : 400) : original;
  text += fmt::format("shrunk to {}: {}\n", small.dynamic ? "a dynamic graph" : "a static graph",
                      problem_of(small, compiled));
  try {
    const FuzzGraph g = build_graph(small);
    // With its dead code: passes see that too.
    text += fmt::format(
        "cat > /tmp/fuzz.graph <<'END'\n{}END\nstax-opt --lower --verify --print-after all /tmp/fuzz.graph\n",
        graph::to_text(g.graph));
  } catch (const std::exception& e) {
    text += std::string("the graph cannot be printed: ") + e.what() + "\n";
  }
  return text + fmt::format("again: STAX_FUZZ_SEED={} build/bin/test_fuzz --gtest_filter='Fuzz.Seed'\n", original.seed);
}

Totals run(const Campaign& c) {
  name_crashes();
  Totals t;
  std::vector<std::unique_ptr<Case>> batch;
  auto fail = [&](std::uint64_t seed, bool compiled) {
    t.failures.push_back({seed, report(draw_recipe(seed), compiled, c.shrink)});
    if (c.progress) std::fprintf(stderr, "%s\n", t.failures.back().report.c_str());
  };
  auto flush = [&] {
    std::vector<const Case*> list;
    for (const auto& one : batch) list.push_back(one.get());
    if (!list.empty()) current_seed = list.front()->recipe().seed;
    const std::vector<CompiledResult> results = check_compiled(list, c.units);
    for (std::size_t i = 0; i < list.size(); ++i) {
      ++t.compiled_graphs;
      t.compiled_calls += results[i].calls;
      t.kernels += results[i].kernels;
      if (!results[i].problem.empty()) fail(list[i]->recipe().seed, true);
    }
    batch.clear();
    if (c.progress)
      std::fprintf(stderr, "fuzz: %lld graphs, %lld compiled, %zu failures\n", static_cast<long long>(t.graphs),
                   static_cast<long long>(t.compiled_graphs), t.failures.size());
  };
  for (std::int64_t i = 0; i < c.graphs && static_cast<int>(t.failures.size()) < c.most_failures; ++i) {
    const std::uint64_t seed = c.first_seed + static_cast<std::uint64_t>(i);
    current_seed = seed;
    ++t.graphs;
    try {
      auto one = std::make_unique<Case>(draw_recipe(seed));
      t.dynamic_graphs += one->recipe().dynamic;
      t.operators += static_cast<std::int64_t>(one->graph().graph.nodes().size() - one->graph().graph.inputs.size());
      int calls = 0;
      const std::string problem = check_loops(*one, &calls);
      t.loop_calls += calls;
      if (!problem.empty()) {
        fail(seed, false);
        continue;
      }
      if (c.compile_every > 0 && i % c.compile_every == 0) batch.push_back(std::move(one));
    } catch (const std::exception&) {
      fail(seed, false);
    }
    if (static_cast<int>(batch.size()) >= c.batch) flush();
  }
  if (!batch.empty()) flush();
  return t;
}

}  // namespace stax::fuzz
