// Runs graphs and loop programs in the three ways that exist, and shows results.
#pragma once
#include <string>
#include <vector>

#include "common/inputs.h"
#include "compile/pipeline.h"

namespace stax::tools {

struct Result {
  std::string name;  // "out0", or the name of a written input
  Array array;
};

// Operator by operator, by reference evaluation.
std::vector<Result> run_reference(const graph::Graph& g, const Inputs& inputs);
// By the reference interpreter of loop programs.
std::vector<Result> run_loops(const loop::Program& p, const Inputs& inputs);
// Compiled. UserError with the failed guard when the inputs do not fit.
std::vector<Result> run_compiled(const plan::Executable& executable, const Inputs& inputs);

// A loop program as compiled code: its kernels, the plan that launches them. Inputs are the first buffers, in order.
// `schedules` as for compiler::emit_kernels.
plan::Plan plan_of(const loop::Program& p, const std::vector<compiler::ScheduledKernel>& kernels, Device device = {});
plan::Executable build_program(const loop::Program& p, const std::vector<schedule::KernelSchedule>* schedules);

// "out0: f32[64] = [1.5, 2.25, … 62 more], from 0.5 to 9.25, mean 3.1".
std::string summary(const Result& result);
// DIR/NAME.npy for every result; makes the directory.
void save(const std::vector<Result>& results, const std::string& directory);

}  // namespace stax::tools
