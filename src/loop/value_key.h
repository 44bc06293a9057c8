// Equality of values up to their origin, for common subexpressions.
#pragma once
#include "loop/ir.h"

namespace stax::loop {

// Wraps a value for hashing: every field that determines what is computed. The symbol of a `bounded` value does not
// count: two bounded values of the same operand and bound are equal.
struct ValueKey {
  Value value;
  explicit ValueKey(const Value& v) : value(v) {}
  bool operator==(const ValueKey& o) const;
};

struct ValueKeyHash {
  std::size_t operator()(const ValueKey& key) const;
};

using ValueTable = std::unordered_map<ValueKey, ValueId, ValueKeyHash>;

// Forgets the loads of buffers that the stores change.
void forget_loads(ValueTable& table, const std::vector<Store>& stores);

}  // namespace stax::loop
