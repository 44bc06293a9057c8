// What a kernel costs at the hints of the sizes.
#pragma once
#include "loop/ir.h"

namespace stax::loop {

struct KernelCount {
  double operations = 0;  // scalar operations over all units; loads, literals and index arithmetic not counted
  double bytes_read = 0;  // distinct elements, each load expression of a buffer once
  double bytes_written = 0;
  double units = 0;          // product of the outer extents
  double largest_inner = 1;  // elements of the largest phase of one unit
};
// A size without a hint counts as `unknown`.
KernelCount count(const Program& p, const Kernel& k, std::int64_t unknown = 1024);

}  // namespace stax::loop
