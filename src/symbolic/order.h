// The stable order of nodes: by structure and names, the same in every process.
#pragma once
#include "symbolic/node.h"

namespace stax::symbolic {

// s2 < s10: runs of digits compare as numbers.
int compare_names(std::string_view a, std::string_view b);
// Negative, zero, positive. Symbols come before atoms, atoms are ordered by operation, then by operands.
int compare_nodes(const Node* a, const Node* b);
// Order of the terms of a sum, by monomial: higher degree first, then factor by factor (a graded order, so it is kept
// under multiplication).
int compare_monomials(const Node* a, const Node* b);

}  // namespace stax::symbolic
