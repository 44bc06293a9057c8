// Reference evaluation of graphs, verifier, text form, structural hash.
#pragma once
#include "base/hash.h"
#include "graph/op_def.h"

namespace stax::graph {

// One argument per graph input: a tensor, or a rank-0 array (f64, i64 or boolean) for a host scalar. Sizes are bound
// from the arrays; an input whose sizes do not fit its type is a UserError. Mutated inputs are written. Views of inputs
// share their storage.
std::vector<Array> interpret(const Graph& g, std::span<const Array> inputs);

// One operator on arrays, by its reference evaluation or its decomposition; what eager execution does. `scalars` marks
// host scalars among the operands (may be shorter).
std::vector<Array> evaluate_op(const OpDef& op, std::span<const Array> operands, const std::vector<bool>& scalars,
                               const Attributes& attributes, const SourceLoc& where = {});

// Recomputes every type and compares; checks order, operands, outputs. InternalError names the node.
void verify(const Graph& g);
// What is wrong with the number of a node's operands ("the operand 'b' is missing"), or empty.
std::string operand_problem(const Node& node);
// What is wrong with the written types of a node ("its sizes are [3], inferred [2]") or its operands, or empty.
// UserError when inference refuses the operands.
std::string type_problem(const Graph& g, const Node& node);

std::string to_text(const Graph& g);
Graph parse_graph(std::string_view text, std::string_view file = "<text>");  // UserError with line and column
base::Digest structural_hash(const Graph& g);

}  // namespace stax::graph
