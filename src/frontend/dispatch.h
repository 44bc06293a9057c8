// One operator applied to what the user holds: recorded by the running trace, or run at once.
#pragma once
#include <stax/frontend/tensor.h>

#include "graph/op_def.h"

namespace stax::frontend {

// Operands in schema order; an undefined tensor operand is absent.
std::vector<Tensor> apply(std::string_view op, std::vector<Operand> operands, graph::Attributes attributes,
                          const SourceLoc& where);
inline Tensor apply_one(std::string_view op, std::vector<Operand> operands, graph::Attributes attributes,
                        const SourceLoc& where) {
  return apply(op, std::move(operands), std::move(attributes), where).at(0);
}

// Attribute values from the public types; sizes as expressions of the running trace. UserError for a size of another.
graph::Attribute attribute(const Dim& d, const SourceLoc& where);
graph::Attribute attribute(const std::optional<Dim>& d, const SourceLoc& where);
graph::Attribute attribute(const Shape& s, const SourceLoc& where);
graph::Attribute attribute(const Axes& a, const SourceLoc& where);
graph::Attribute attribute(const std::optional<Dtype>& t, const SourceLoc& where);

// A host scalar as the rank-0 array that evaluation takes.
Array scalar_array(const Scalar& s, const SourceLoc& where);

// Runs one operator without a trace. Small CPU tensors, and all with STAX_EAGER=reference: by reference evaluation;
// others by the compiled single operator with symbolic sizes.
std::vector<Tensor> run_eager(const graph::OpDef& op, const std::vector<Operand>& operands,
                              const graph::Attributes& attributes, const SourceLoc& where);

}  // namespace stax::frontend
