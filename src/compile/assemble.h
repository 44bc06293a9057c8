// The last stage: scheduled kernels and library calls become a plan.
#pragma once
#include "compile/pipeline.h"

namespace stax::compiler {

// Guards, bindings, buffers with their slots, steps, outputs. `g` is the graph as traced: its inputs and environment.
plan::Plan assemble(const graph::Graph& g, const loop::Program& p, const std::vector<ScheduledKernel>& kernels,
                    const std::vector<plan::Guard>& extra);
// What other calls could let the kernels count on, over the bindings of the plan.
std::vector<plan::Guard> wishes(const loop::Program& p, const std::vector<ScheduledKernel>& kernels);
std::string listing(const plan::Plan& plan);
// Fills in the reports of an artifact.
void describe(Artifact& artifact, const fusion::FusionResult& fused, const std::vector<ScheduledKernel>& kernels,
              const std::vector<build::KernelResources>& resources);

}  // namespace stax::compiler
