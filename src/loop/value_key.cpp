#include "loop/value_key.h"

#include <algorithm>

#include "base/hash.h"

namespace stax::loop {

bool ValueKey::operator==(const ValueKey& o) const {
  const Value &a = value, &b = o.value;
  return a.op == b.op && a.dtype == b.dtype && a.args == b.args && a.bits == b.bits && a.index == b.index &&
         a.buffer == b.buffer && a.scalar == b.scalar && a.combine == b.combine && a.part == b.part &&
         a.half == b.half && a.wraps_negative == b.wraps_negative && a.checked == b.checked && a.reverse == b.reverse;
}

std::size_t ValueKeyHash::operator()(const ValueKey& key) const {
  const Value& v = key.value;
  std::uint64_t h = static_cast<std::uint64_t>(v.op) * 64 + static_cast<std::uint64_t>(v.dtype);
  for (ValueId a : v.args) h = base::hash_combine(h, static_cast<std::uint64_t>(a));
  h = base::hash_combine(h, v.bits);
  h = base::hash_combine(h, std::hash<Expr>()(v.index));
  h = base::hash_combine(h, static_cast<std::uint64_t>(v.buffer) * 1024 + static_cast<std::uint64_t>(v.scalar));
  return base::hash_combine(h, static_cast<std::uint64_t>(v.combine) * 64 + static_cast<std::uint64_t>(v.part));
}

void forget_loads(ValueTable& table, const std::vector<Store>& stores) {
  std::erase_if(table, [&](const auto& entry) {
    const Value& v = entry.first.value;
    return v.op == ScalarOp::load &&
           std::any_of(stores.begin(), stores.end(), [&](const Store& s) { return s.buffer == v.buffer; });
  });
}

}  // namespace stax::loop
