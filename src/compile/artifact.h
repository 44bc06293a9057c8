// A compiled graph: the plan with its code, and what people ask about it.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "build/triton_worker.h"
#include "fusion/fusion.h"
#include "graph/graph.h"
#include "loop/schedule.h"
#include "plan/executable.h"
#include "plan/wishes.h"

namespace stax::compiler {

// How a kernel runs on a GPU.
struct GpuKernelReport {
  build::KernelResources resources;
  std::string grid;                                             // programs, over the sizes
  std::optional<std::int64_t> programs;                         // at the hints
  std::vector<std::pair<std::string, std::int64_t>> constants;  // block lengths
};

struct KernelReport {
  std::string name;
  std::string source;  // of the target
  std::string loops;   // the loop IR
  std::string schedule;
  bool shared = false;  // its code is that of an earlier kernel of this artifact
  std::optional<GpuKernelReport> gpu;
};

struct StageTime {
  std::string stage;
  std::chrono::microseconds time{0};
};

struct Artifact {
  plan::Executable executable;
  std::unique_ptr<const plan::Wishes> wishes;  // null: none
  std::vector<KernelReport> kernels;           // in launch order
  std::vector<std::string> library_calls;
  std::vector<std::string> guards;  // text with reason and place
  std::vector<fusion::Refusal> refusals;
  std::string fusion_report;
  std::vector<StageTime> times;
  std::int64_t bytes = 0;           // memory traffic of the kernels at the hints
  std::uint64_t kernels_built = 0;  // compiler runs that this artifact needed
  std::uint64_t cache_hits = 0;     // kernels taken from disk or from memory
};

}  // namespace stax::compiler
