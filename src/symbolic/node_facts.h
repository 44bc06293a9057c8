// Range and divisibility of one node from those of its operands.
#pragma once
#include "symbolic/interval.h"
#include "symbolic/node.h"

namespace stax::symbolic {

// `operand_range` and `operand_multiple` answer for the operands (and factors) of the node.
using RangeOf = Range (*)(const void* self, const Node* operand);
using MultipleOf = std::int64_t (*)(const void* self, const Node* operand);
Range derive_range(const Node& node, const void* self, RangeOf range_of, MultipleOf multiple_of);
std::int64_t derive_multiple(const Node& node, const void* self, MultipleOf multiple_of);

// From the cached facts of the operands.
Range declared_range(const Node& node);
std::int64_t declared_multiple(const Node& node);

}  // namespace stax::symbolic
