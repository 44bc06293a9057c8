// Many seeds: run, shrink, report.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiled.h"

namespace stax::fuzz {

struct Failure {
  std::uint64_t seed = 0;
  std::string report;  // seed, problem, shrunk graph as text, command
};

struct Totals {
  std::int64_t graphs = 0, dynamic_graphs = 0, operators = 0;
  std::int64_t loop_calls = 0;  // reference = lowered = fused
  std::int64_t compiled_graphs = 0, compiled_calls = 0, kernels = 0;
  std::vector<Failure> failures;
};

struct Campaign {
  std::uint64_t first_seed = 1;
  std::int64_t graphs = 1000;
  std::int64_t compile_every = 0;  // 0: none; 1: all
  int batch = 60;                  // graphs whose kernels are compiled together
  int units = 2;
  int most_failures = 10;  // stops after
  bool shrink = true;
  bool progress = false;  // a line on stderr per batch
};
Totals run(const Campaign& c);

// The problem of one recipe, empty when there is none.
std::string problem_of(const Recipe& r, bool compiled);
// The smallest recipe found that still fails at the same level.
Recipe shrink(Recipe r, bool compiled, int most_tries = 400);
std::string report(const Recipe& original, bool compiled, bool shrink_it);

}  // namespace stax::fuzz
