// Texts of the stages in files: on request (STAX_DUMP_DIR) and for faults of Stax.
#pragma once
#include "compile/pipeline.h"

namespace stax::compiler {

// Writes every stage to $STAX_DUMP_DIR/NAME-PID-N/NN-STAGE.stax (emit: .cpp or .py) and hands it on to `next`. Just
// `next` when the variable is not set. UserError when the directory cannot be written.
Observer dumping(const graph::Graph& g, const Observer& next);

// `fault` again, with the graph's text in a file ($STAX_DUMP_DIR, else the directory for temporary files) and the
// command that reproduces it.
[[noreturn]] void report_fault(const graph::Graph& g, const InternalError& fault);

}  // namespace stax::compiler
