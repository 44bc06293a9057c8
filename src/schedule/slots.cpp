#include "schedule/slots.h"

#include <algorithm>

namespace stax::schedule {

using loop::Buffer;
using loop::BufferId;
using loop::BufferKind;
using loop::Expr;
using loop::Program;

namespace {

struct Lifetime {
  int first = -1, last = -1;  // items
};

std::vector<Lifetime> lifetimes(const Program& p) {
  std::vector<Lifetime> result(p.buffers.size());
  for (int i = 0; i < static_cast<int>(p.items.size()); ++i) {
    auto touch = [&](BufferId b) {
      Lifetime& l = result[static_cast<std::size_t>(b)];
      if (l.first < 0) l.first = i;
      l.last = i;
    };
    for (BufferId b : loop::buffers_read(p.items[static_cast<std::size_t>(i)])) touch(b);
    for (BufferId b : loop::buffers_written(p.items[static_cast<std::size_t>(i)])) touch(b);
  }
  return result;
}

bool is_row_major(const Program& p, const Buffer& b) {
  if (b.strides.size() != b.sizes.size()) return false;
  Expr stride = p.context->constant(1);
  for (std::size_t i = b.sizes.size(); i-- > 0;) {
    if (!(b.strides[i] == stride)) return false;
    stride = stride * b.sizes[i];
  }
  return true;
}

}  // namespace

Expr byte_span(const Program& p, const Buffer& b) {
  Expr elements = p.context->constant(1);
  if (std::any_of(b.sizes.begin(), b.sizes.end(), [](Expr s) { return s.is_constant(0); }))
    return p.context->constant(0);
  if (is_row_major(p, b)) {
    for (Expr s : b.sizes) elements = elements * s;
  } else {
    for (std::size_t i = 0; i < b.sizes.size(); ++i) elements = elements + (b.sizes[i] - 1) * b.strides[i];
    if (symbolic::range_of(elements, &p.facts).lo < 0) elements = max(elements, p.context->constant(0));
  }
  return elements * byte_size(b.dtype);
}

SlotAssignment assign_slots(const Program& p) {
  SlotAssignment result;
  result.slot_of.assign(p.buffers.size(), -1);
  result.alloc_before.resize(p.items.size());
  result.free_after.resize(p.items.size());
  std::vector<bool> returned(p.buffers.size(), false);
  for (const loop::View& v : p.outputs) returned[static_cast<std::size_t>(v.buffer)] = true;
  const auto lives = lifetimes(p);

  std::vector<BufferId> order;
  for (std::size_t b = 0; b < p.buffers.size(); ++b)
    if (p.buffers[b].kind == BufferKind::temporary && !returned[b] && lives[b].first >= 0)
      order.push_back(static_cast<BufferId>(b));
  std::stable_sort(order.begin(), order.end(), [&](BufferId a, BufferId b) {
    return lives[static_cast<std::size_t>(a)].first < lives[static_cast<std::size_t>(b)].first;
  });

  for (BufferId b : order) {
    const Lifetime life = lives[static_cast<std::size_t>(b)];
    const Expr bytes = byte_span(p, p.buffers[static_cast<std::size_t>(b)]);
    int chosen = -1;
    for (int s = 0; s < static_cast<int>(result.slots.size()) && chosen < 0; ++s) {
      const Slot& slot = result.slots[static_cast<std::size_t>(s)];
      if (slot.last_item >= life.first) continue;
      if (slot.bytes == bytes || symbolic::always(symbolic::le(bytes, slot.bytes), &p.facts)) chosen = s;
    }
    if (chosen < 0) {
      chosen = static_cast<int>(result.slots.size());
      result.slots.push_back({bytes, {}, life.first, life.last});
    }
    Slot& slot = result.slots[static_cast<std::size_t>(chosen)];
    slot.buffers.push_back(b);
    slot.last_item = life.last;
    result.slot_of[static_cast<std::size_t>(b)] = chosen;
  }
  for (int s = 0; s < static_cast<int>(result.slots.size()); ++s) {
    const Slot& slot = result.slots[static_cast<std::size_t>(s)];
    result.alloc_before[static_cast<std::size_t>(slot.first_item)].push_back(s);
    result.free_after[static_cast<std::size_t>(slot.last_item)].push_back(s);
  }
  return result;
}

}  // namespace stax::schedule
