// Combine operators by definition: accumulators over lanes, as the reference interpreter runs them.
#pragma once
#include <cstddef>
#include <memory>

#include "loop/ir.h"

namespace stax::loop {

// One running tuple per lane. Sums of f32 run in double and are rounded when read; f64 in long double.
class Accumulator {
 public:
  virtual ~Accumulator() = default;
  virtual void reset(std::size_t lanes) = 0;  // to the identity
  // Feeds one element per lane: as many operands as the value has; a whole tuple when there are `parts` of them.
  virtual void step(std::size_t lanes, const void* const* operands) = 0;
  virtual void read(std::size_t lanes, int part, void* out) const = 0;
};

// `value`: a combine or scan.
std::unique_ptr<Accumulator> make_accumulator(const Value& value);

}  // namespace stax::loop
