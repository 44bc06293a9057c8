// Values of every node at a few assignments that the declared infos allow. One negative value refutes e >= 0, which
// saves most proofs that would fail. The last assignment is that of the hints.
#pragma once
#include "symbolic/node.h"

namespace stax::symbolic {

// Fills in the samples of a new node from those of its operands; `symbol_index` counts the symbols of the context.
void derive_samples(Node& node);
void choose_samples(Node& symbol, std::size_t symbol_index);

}  // namespace stax::symbolic
