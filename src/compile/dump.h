// Texts of the stages in files: on request (STAX_DUMP_DIR) and for faults of Stax.
#pragma once
#include "build/triton_compiler.h"
#include "compile/pipeline.h"

namespace stax::compiler {

// Writes every stage to $STAX_DUMP_DIR/NAME-PID-N/NN-STAGE.stax (emit: .cpp or .py) and hands it on to `next`. Just
// `next` when the variable is not set. UserError when the directory cannot be written.
Observer dumping(const graph::Graph& g, const Observer& next);

// `fault` again, with the graph's text in a file ($STAX_DUMP_DIR, else the directory for temporary files) and the
// command that reproduces it.
[[noreturn]] void report_fault(const graph::Graph& g, const InternalError& fault);

// "add at main.cpp:6, sqrt at main.cpp:7".
std::string operators_text(const std::vector<loop::Origin>& operators);

// A kernel that Triton does not take: the operator and its place (those of all of the kernel when Triton names no
// statement), Triton's message, a program that reproduces it and its command. `operators`: by value of the kernel.
[[noreturn]] void report_refusal(const build::TritonRefusal& refusal, const std::vector<loop::Origin>& operators,
                                 const std::string& python);

}  // namespace stax::compiler
