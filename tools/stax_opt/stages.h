// One text through the stages that the command line asks for.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/execute.h"
#include "common/texts.h"

namespace stax::tools {

struct OptOptions {
  std::string path, output;
  std::vector<std::string> passes;       // names, or "all"
  std::vector<std::string> print_after;  // names of passes and stages, or "all"
  bool verify = false, lower = false, fuse = false, normalise = false, schedule = false, plan = false;
  int split = 0;  // multiprocessors of the GPU that reductions are split for; 0: not
  std::string emit, run;
  std::string target;  // cpu, gpu; empty: that of the graph's device, the CPU for loop programs
  bool strict = false;
  InputOptions inputs;
};

// What the text has become.
struct Work {
  std::optional<graph::Graph> graph;  // of a graph text, kept as read: it has the inputs
  std::optional<loop::Program> program;
  std::optional<std::vector<schedule::KernelSchedule>> schedules;
  std::optional<plan::Plan> plan;
};

// Reads the text, runs the stages in the order of the pipeline, prints what is asked for. UserError for stages that do
// not take what the text is.
void run_stages(const OptOptions& options);

}  // namespace stax::tools
