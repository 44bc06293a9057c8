// Fusion: which loop nests share a kernel.
//
// Takes a program as lowered (one kernel per primitive operator, reductions split or not) and gives a program with the
// same inputs, outputs and values in fewer kernels and buffers. Every refusal is a value with a reason and the bytes of
// memory traffic at stake. Deterministic.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/decision.h"
#include "loop/ir.h"

namespace stax::fusion {

using base::Decision;
using loop::Kernel;
using loop::Program;

struct FusionOptions {
  bool enabled = true;  // false: kernels stay as lowered (the metamorphic tests and `debug` use it)
  bool strict = false;  // numerics = strict: half types are rounded at every operation, inlined or not

  // The machine, in figures that only decide what pays.
  std::int64_t parallel_units = 2;          // independent units that fill the machine: threads, or multiprocessors
  std::int64_t cache_bytes = 1 << 20;       // of one thread or multiprocessor: what a unit can read twice for one read
  std::int64_t small_elements = 16 * 1024;  // a kernel that never has more elements is bound by its launch
  bool shares_rows = true;  // all units may work on one row together, so few rows still fill the machine

  // Library calls store to any strides as fast as without gaps, batch dimensions between the rows included.
  bool calls_store_views = true;

  // Realisation thresholds.
  int max_loads = 24;         // distinct loads that may gather in one phase
  int max_stores = 16;        // of one kernel
  int max_operations = 256;   // values of one kernel
  int cheap_operations = 12;  // a producer with at most this many operations, none expensive, may be computed again

  // What the target can generate; asked for every joined kernel. Empty: everything.
  std::function<Decision(const Program&, const Kernel&)> can_emit;
};

// Two items that stay apart although they share data.
struct Refusal {
  std::string first, second;  // names of kernels or library calls of the fused program, in program order
  std::string reason;
  std::int64_t bytes = 0;  // of traffic that one kernel would have saved, at the size hints
};

struct FusionResult {
  Program program;
  std::vector<Refusal> refusals;  // most bytes first
  int kernels_before = 0, kernels_after = 0;
  std::int64_t bytes_before = 0, bytes_after = 0;  // memory traffic of the kernels at the size hints
};

FusionResult fuse(Program program, const FusionOptions& options = {});

// "12 kernels became 3; 8.4 MB of 20.1 MB of traffic remain" and one line per refusal. Ends with a newline.
std::string report(const FusionResult& result);

}  // namespace stax::fusion
