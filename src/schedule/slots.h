// Lifetimes of the temporary buffers of a program and the memory that they share.
#pragma once
#include "loop/ir.h"

namespace stax::schedule {

struct Slot {
  loop::Expr bytes;
  std::vector<loop::BufferId> buffers;  // in the order of their lifetimes
  int first_item = 0, last_item = 0;    // allocate before the first, free after the last
};

struct SlotAssignment {
  std::vector<Slot> slots;
  std::vector<int> slot_of;                    // by buffer; -1: an input, an output, or never used
  std::vector<std::vector<int>> alloc_before;  // by item: slots
  std::vector<std::vector<int>> free_after;
};

// Bytes that a buffer spans: (1 + sum of (size - 1)·stride) elements, the product of the sizes when it is row-major.
loop::Expr byte_span(const loop::Program& p, const loop::Buffer& b);

// A buffer takes over a slot only when its size is proven to be equal or smaller, and after the last reader of the
// buffer before it: never within one item. Temporaries that an output views are outputs and get no slot.
SlotAssignment assign_slots(const loop::Program& p);

}  // namespace stax::schedule
