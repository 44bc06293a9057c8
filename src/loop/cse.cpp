// Common subexpressions and dead values of a kernel.
#include <algorithm>

#include "loop/transform.h"
#include "loop/value_key.h"

namespace stax::loop {
namespace {

// The bounded values by their symbols.
std::unordered_map<Expr, ValueId> bounded_symbols(const Kernel& k) {
  std::unordered_map<Expr, ValueId> result;
  for (std::size_t i = 0; i < k.values.size(); ++i)
    if (k.values[i].op == ScalarOp::bounded) result.emplace(k.values[i].symbol, static_cast<ValueId>(i));
  return result;
}

// Keeps the marked values, renumbers their uses, drops phases that have nothing left.
void compact(Kernel& k, const std::vector<bool>& live) {
  std::vector<ValueId> renamed(k.values.size(), kNoValue);
  std::vector<Value> values;
  for (Phase& p : k.phases) {
    const auto begin = static_cast<ValueId>(values.size());
    for (ValueId v = p.begin; v < p.end; ++v) {
      if (!live[static_cast<std::size_t>(v)]) continue;
      renamed[static_cast<std::size_t>(v)] = static_cast<ValueId>(values.size());
      values.push_back(std::move(k.values[static_cast<std::size_t>(v)]));
      for (ValueId& a : values.back().args)
        if (a != kNoValue) a = renamed[static_cast<std::size_t>(a)];
    }
    p.begin = begin;
    p.end = static_cast<ValueId>(values.size());
    for (Store& s : p.stores) s.value = renamed[static_cast<std::size_t>(s.value)];
  }
  k.values = std::move(values);
  std::erase_if(k.phases, [](const Phase& p) { return p.begin == p.end && p.stores.empty(); });
}

}  // namespace

void eliminate_dead_values(Kernel& k) {
  const auto symbols = bounded_symbols(k);
  std::vector<bool> live(k.values.size(), false);
  std::vector<ValueId> work;
  const auto need = [&](ValueId v) {
    if (v == kNoValue || live[static_cast<std::size_t>(v)]) return;
    live[static_cast<std::size_t>(v)] = true;
    work.push_back(v);
  };
  const auto need_symbols = [&](Expr e) {
    if (!e || symbols.empty()) return;
    for (Expr s : symbolic::symbols_of(e))
      if (const auto found = symbols.find(s); found != symbols.end()) need(found->second);
  };
  for (const Phase& p : k.phases)
    for (const Store& s : p.stores) {
      need(s.value);
      need_symbols(s.index);
    }
  for (std::size_t i = 0; i < k.values.size(); ++i)
    if (is_check(k.values[i])) need(static_cast<ValueId>(i));
  while (!work.empty()) {
    const Value& v = k.values[static_cast<std::size_t>(work.back())];
    work.pop_back();
    for (ValueId a : v.args) need(a);
    need_symbols(v.index);
  }
  if (std::find(live.begin(), live.end(), false) != live.end() ||
      std::any_of(k.phases.begin(), k.phases.end(), [](const Phase& p) { return p.begin == p.end; }))
    compact(k, live);
}

void eliminate_common_values(Kernel& k) {
  std::vector<ValueId> same(k.values.size());
  symbolic::SymbolMap symbols;  // of dropped bounded values
  const auto renamed = [&](Expr e) { return !e || symbols.empty() ? e : symbolic::substitute(e, symbols); };
  ValueTable unit;
  bool changed = false;
  for (Phase& p : k.phases) {
    ValueTable here;
    for (ValueId id = p.begin; id < p.end; ++id) {
      Value& v = k.values[static_cast<std::size_t>(id)];
      for (ValueId& a : v.args)
        if (a != kNoValue) a = same[static_cast<std::size_t>(a)];
      v.index = renamed(v.index);
      same[static_cast<std::size_t>(id)] = id;
      const ValueKey key(v);
      const auto in_unit = unit.find(key);
      const ValueId first = in_unit != unit.end() ? in_unit->second : here.emplace(key, id).first->second;
      if (first == id) continue;
      changed = true;
      same[static_cast<std::size_t>(id)] = first;
      if (v.op != ScalarOp::bounded) continue;
      symbols[v.symbol] = k.values[static_cast<std::size_t>(first)].symbol;
      v.checked = false;  // the first does it
    }
    for (Store& s : p.stores) {
      s.value = same[static_cast<std::size_t>(s.value)];
      s.index = renamed(s.index);
    }
    // A combine also depends on the axes of its phase: it is equal to no other phase's.
    for (const auto& [key, id] : here)
      if (p.inner.empty() || (key.value.op == ScalarOp::part && is_combined(k, id))) unit.emplace(key, id);
    forget_loads(unit, p.stores);
  }
  if (changed) eliminate_dead_values(k);
}

}  // namespace stax::loop
