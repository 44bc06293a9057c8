// Library calls that store in the layout which a copy behind them would make.
#pragma once
#include "fusion/fusion.h"
#include "fusion/item_graph.h"

namespace stax::fusion {

// A call whose result is only read by a kernel that copies all of it elsewhere, element by element and each row to a
// contiguous row, stores there itself; the copy goes. Not where the copy goes to an input, whose memory the operands
// may share.
void store_through_copies(const Program& program, ItemGraph& graph);

}  // namespace stax::fusion
