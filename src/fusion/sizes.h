// Sizes and memory traffic at the hints: the figures that decide what pays.
#pragma once
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "loop/ir.h"

namespace stax::fusion {

// A size symbol without a hint counts as this many.
inline constexpr std::int64_t kUnknownSize = 1024;

class Sizes {
 public:
  explicit Sizes(const loop::Program& program);

  std::int64_t at_hint(loop::Expr e) const;  // never negative; axes count as 0
  std::int64_t product(const std::vector<loop::Axis>& axes) const;
  std::int64_t at_most(const std::vector<loop::Axis>& axes) const;  // the product for every size that the facts allow
  std::int64_t elements(loop::BufferId buffer) const;               // distinct elements: axes of stride 0 count once
  std::int64_t bytes(loop::BufferId buffer) const;

 private:
  const loop::Program& program_;
  std::unordered_map<loop::Expr, bool> is_size_;
  mutable std::unordered_map<loop::Expr, std::int64_t> known_;
};

inline constexpr std::int64_t kCacheLine = 64;
std::int64_t element_bytes(const loop::Program& program, loop::BufferId buffer);
// The axis along which the address moves by one element, or null.
const loop::Axis* contiguous_axis(const std::vector<loop::Axis>& axes, loop::Expr address);

// Saturating product of non-negative numbers.
std::int64_t times(std::int64_t a, std::int64_t b);

// Whether the symbol with this exact node occurs in the expression, by the axes of a kernel.
bool mentions(loop::Expr e, const std::vector<loop::Axis>& axes);

// Work of a kernel, for thresholds.
struct Work {
  int operations = 0;  // values that compute: no leaves, parts, casts
  int expensive = 0;   // transcendental functions, divisions, powers, random numbers
  int loads = 0;
};
bool is_expensive(const loop::Value& v);
bool is_leaf(loop::ScalarOp op);  // constant, index, scalar
Work work_of(const loop::Kernel& k);
int most_loads_of_a_phase(const loop::Kernel& k);

// Elements that an access touches: the product of the extents of the axes in its address.
std::int64_t footprint(const Sizes& sizes, const loop::Kernel& k, int phase, loop::Expr address);

// Bytes by buffer that a kernel reads and writes, each element once; phases read anew when a unit does not fit the
// cache.
struct Traffic {
  std::map<loop::BufferId, std::int64_t> read, written;
  std::int64_t total() const;
};
Traffic traffic_of(const loop::Program& program, const Sizes& sizes, const loop::Item& item,
                   std::int64_t cache_bytes = INT64_MAX);

// Bytes that one unit would have to keep to read its row inputs once: of loads over inner axes. Units whose neighbours
// lie next to each other in memory are taken a cache line at a time.
std::int64_t unit_bytes(const loop::Program& program, const Sizes& sizes, const loop::Kernel& k);

}  // namespace stax::fusion
