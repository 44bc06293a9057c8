// Which buffers a step touches.
#pragma once
#include <vector>

#include "plan/plan.h"

namespace stax::plan {

// Read or written by a launch, a matmul or a copy; empty for the others. May name a buffer more than once.
std::vector<int> buffers_used(const Step& step);

}  // namespace stax::plan
