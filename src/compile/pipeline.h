// The stages from a graph to an artifact, in order.
#pragma once
#include <functional>
#include <memory>
#include <string_view>

#include "compile/artifact.h"
#include "compile/kernels.h"
#include "compile/options.h"
#include "compile/session.h"
#include "fusion/split.h"
#include "passes/passes.h"

namespace stax::compiler {

// What is known of the call that asks for a compile beyond the graph.
struct CallFacts {
  std::vector<plan::Guard> guards;  // on host scalars and on memory shared by inputs
  std::vector<int> unaligned;       // tensor inputs whose first element lies at no multiple of 16 bytes
};

// Called after each stage with its name and the text of its result, when given.
using Observer = std::function<void(std::string_view stage, const std::function<std::string()>& text)>;

// For the device of the graph's tensors. Thread-safe for different graphs. UserError when the compiler of that device
// is missing. InternalError for faults of Stax: its message names a file with the graph's text and the command that
// reproduces it. With STAX_DUMP_DIR every stage is written there.
std::shared_ptr<const Artifact> compile_graph(const graph::Graph& g, const Settings& settings, Session& session,
                                              const CallFacts& call = {}, const Observer& observe = nullptr);

// The stages one by one, for stax-opt and tests.
//
// The device of every tensor in the graph; UserError naming the first input that lies elsewhere.
Device device_of(const graph::Graph& g);
graph::Graph run_passes(const graph::Graph& g, const Settings& settings, const Observer& observe = nullptr);
fusion::FusionOptions fusion_options(const Settings& settings, const schedule::Target& target);
fusion::SplitTarget split_target(const schedule::Target& target);
passes::PassOptions pass_options(const Settings& settings, Device device);
// Axes merged and ordered for every kernel.
void normalise_kernels(loop::Program& p);

}  // namespace stax::compiler
