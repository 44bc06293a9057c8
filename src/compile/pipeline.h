// The stages from a graph to an artifact, in order.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "compile/artifact.h"
#include "compile/options.h"
#include "compile/session.h"
#include "loop/transform.h"

namespace stax::compiler {

// Conditions beyond the graph's own: on host scalars and on memory shared by inputs.
using ExtraGuards = std::vector<plan::Guard>;

// Called after each stage with its name and the text of its result, when given.
using Observer = std::function<void(std::string_view stage, const std::function<std::string()>& text)>;

// Thread-safe for different graphs. UserError when the compiler is missing. InternalError for faults of Stax: its
// message names a file with the graph's text and the command that reproduces it. With STAX_DUMP_DIR every stage is
// written there.
std::shared_ptr<const Artifact> compile_graph(const graph::Graph& g, const Settings& settings, Session& session,
                                              const ExtraGuards& extra = {}, const Observer& observe = nullptr);

// The stages one by one, for stax-opt and tests.
graph::Graph run_passes(const graph::Graph& g, const Settings& settings, const Observer& observe = nullptr);
fusion::FusionOptions fusion_options(const Settings& settings, const schedule::CpuTarget& target);
// Axes merged and ordered for every kernel.
void normalise_kernels(loop::Program& p);

struct ScheduledKernel {
  loop::Canonical canonical;
  loop::CpuSchedule schedule;
  std::string symbol, source;
  int code = -1;  // position among the distinct sources
};
// One entry per kernel item, in order; kernels that are the same up to names share `code`. `schedules`, when given, has
// one entry a kernel; else they are chosen.
std::vector<ScheduledKernel> emit_kernels(const loop::Program& p, const schedule::CpuTarget& target,
                                          const std::vector<loop::CpuSchedule>* schedules = nullptr);
// The code of the kernels, in the order of `code`.
std::vector<std::shared_ptr<runtime::Module>> build_modules(const std::vector<ScheduledKernel>& kernels,
                                                            Session& session, std::uint64_t* built = nullptr,
                                                            std::uint64_t* hits = nullptr);

}  // namespace stax::compiler
