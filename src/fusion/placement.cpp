#include "fusion/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "fusion/sizes.h"

namespace stax::fusion {

using loop::BufferId;
using loop::Kernel;
using loop::kNoValue;
using loop::Phase;
using loop::ScalarOp;
using loop::Value;
using loop::ValueId;

namespace {

bool same_axes(const std::vector<loop::Axis>& a, const std::vector<loop::Axis>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) { return x.var == y.var; });
}

// Program order of two phases of the pair of kernels.
bool is_earlier(int which_a, int phase_a, int which_b, int phase_b) {
  return std::pair(which_a, phase_a) < std::pair(which_b, phase_b);
}

}  // namespace

std::optional<Placement> Placement::make(const loop::Program& program, const Aligned& kernels,
                                         const std::function<bool(BufferId)>& needed_elsewhere, std::string& reason) {
  Placement p(program, kernels);
  p.index(0);
  p.index(1);
  if (!p.serve_loads(needed_elsewhere, reason)) return std::nullopt;
  p.place();
  return p;
}

void Placement::index(int which) {
  const Kernel& k = kernel(which);
  slot_[which].assign(k.phases.size(), -1);
  unit_[which].assign(k.values.size(), false);
  ready_[which].assign(k.values.size(), -1);
  for (std::size_t p = 0; p < k.phases.size(); ++p) {
    const Phase& phase = k.phases[p];
    for (ValueId v = phase.begin; v < phase.end; ++v) {
      unit_[which][static_cast<std::size_t>(v)] = phase.inner.empty() || loop::is_combined(k, v);
      const Value& value = k.values[static_cast<std::size_t>(v)];
      if (value.op == ScalarOp::bounded) bounded_[which].emplace(value.symbol, v);
    }
    for (const loop::Store& s : phase.stores)
      stores_[s.buffer].push_back({which, static_cast<int>(p), s.value, s.index});
  }
}

bool Placement::serve_loads(const std::function<bool(BufferId)>& needed_elsewhere, std::string& reason) {
  for (int which : {0, 1}) {
    const Kernel& k = kernel(which);
    for (std::size_t p = 0; p < k.phases.size(); ++p)
      for (ValueId v = k.phases[p].begin; v < k.phases[p].end; ++v) {
        const Value& load = k.values[static_cast<std::size_t>(v)];
        if (load.op != ScalarOp::load) continue;
        const auto found = stores_.find(load.buffer);
        if (found == stores_.end()) continue;
        std::vector<const StoreRef*> before;
        for (const StoreRef& s : found->second)
          if (is_earlier(s.which, s.phase, which, static_cast<int>(p))) before.push_back(&s);
        if (before.empty()) continue;
        const std::string name = program_->buffers[static_cast<std::size_t>(load.buffer)].name;
        if (before.size() > 1) {
          reason = fmt::format("{} is stored in several places", name);
          return false;
        }
        const StoreRef& s = *before[0];
        const auto& symbols = bounded_[which];
        const bool indirect = std::any_of(symbols.begin(), symbols.end(),
                                          [&](const auto& e) { return symbolic::depends_on(load.index, e.first); });
        auto solution = indirect
                            ? std::nullopt
                            : solve(*program_, s.index, kernel(s.which).phases[static_cast<std::size_t>(s.phase)].inner,
                                    load.index, k.outer, k.phases[p].inner);
        if (!solution) {
          reason = fmt::format("{} is read by other units than those that store it", name);
          return false;
        }
        const bool stored = needed_elsewhere(load.buffer);
        passed_.emplace(std::pair(which, v), Passed{s, std::move(*solution), stored && costs_more_than_a_load(s)});
      }
  }
  return true;
}

// Computing the stored value again takes a function, a scan or more than two loads, or reads what the kernel
// overwrites.
bool Placement::costs_more_than_a_load(const StoreRef& store) const {
  const Kernel& k = kernel(store.which);
  std::vector<ValueId> work{store.value};
  std::vector<bool> seen(k.values.size(), false);
  int loads = 0;
  while (!work.empty()) {
    const ValueId id = work.back();
    work.pop_back();
    if (id == kNoValue || seen[static_cast<std::size_t>(id)] || is_unit_value(store.which, id)) continue;
    seen[static_cast<std::size_t>(id)] = true;
    const Value& v = k.values[static_cast<std::size_t>(id)];
    if (is_expensive(v) || v.op == ScalarOp::scan) return true;
    if (v.op == ScalarOp::load && (++loads > 2 || stores_.contains(v.buffer))) return true;
    work.insert(work.end(), v.args.begin(), v.args.end());
  }
  return false;
}

std::optional<Passed> Placement::passed(int which, ValueId load) const {
  const auto found = passed_.find({which, load});
  return found == passed_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<StoreRef> Placement::later_stores(int which, ValueId load) const {
  std::vector<StoreRef> result;
  const Value& v = kernel(which).values[static_cast<std::size_t>(load)];
  const auto found = stores_.find(v.buffer);
  if (found == stores_.end()) return result;
  const int phase = loop::phase_of(kernel(which), load);
  for (const StoreRef& s : found->second)
    if (!is_earlier(s.which, s.phase, which, phase)) result.push_back(s);
  return result;
}

bool Placement::stays_in_unit(const StoreRef& store, loop::Expr address, const std::vector<loop::Axis>& inner) const {
  const Kernel& k = kernel(store.which);
  return solve(*program_, store.index, k.phases[static_cast<std::size_t>(store.phase)].inner, address, k.outer, inner)
      .has_value();
}

void Placement::add(Slot& slot, const Fragment& f) {
  const Phase& p = phase(f);
  slot.fragments.push_back(f);
  for (ValueId v = p.begin; v < p.end; ++v) {
    const ScalarOp op = kernel(f.which).values[static_cast<std::size_t>(v)].op;
    slot.combines |= op == ScalarOp::combine;
    slot.scans |= op == ScalarOp::scan;
  }
}

// Phases of the first kernel keep their places; those of the second go to the first place where what they need is
// ready and the inner axes agree, else to the end.
void Placement::place() {
  for (std::size_t p = 0; p < kernels_->a.phases.size(); ++p) {
    slot_[0][p] = static_cast<int>(p);
    Slot slot{kernels_->a.phases[p].inner, {}};
    add(slot, {0, static_cast<int>(p)});
    slots_.push_back(std::move(slot));
  }
  for (std::size_t p = 0; p < kernels_->b.phases.size(); ++p) {
    const Fragment f{1, static_cast<int>(p)};
    Slot alone{phase(f).inner, {}};
    add(alone, f);
    const auto first = static_cast<std::size_t>(first_slot(f));
    std::size_t s = first;
    for (; s < slots_.size(); ++s) {
      const Slot& slot = slots_[s];
      // The running values of a scan and the results of a reduction do not share a loop.
      const bool clash = (slot.scans && (alone.combines || alone.scans)) || (alone.scans && slot.combines);
      if (same_axes(slot.inner, alone.inner) && !clash) break;
    }
    if (s == slots_.size()) slots_.push_back({alone.inner, {}, false, false});
    add(slots_[s], f);
    slot_[1][p] = static_cast<int>(s);
  }
}

int Placement::first_slot(const Fragment& f) {
  const Kernel& k = kernel(f.which);
  const Phase& p = phase(f);
  int first = 0;
  for (ValueId v = p.begin; v < p.end; ++v) {
    const Value& value = k.values[static_cast<std::size_t>(v)];
    for (ValueId a : value.args)
      if (a != kNoValue && !(p.begin <= a && a < p.end)) first = std::max(first, ready(f.which, a));
    if (value.op != ScalarOp::load) continue;
    if (const auto passed = passed_.find({f.which, v}); passed != passed_.end()) {
      const StoreRef& s = passed->second.store;
      first = std::max(first, ready(s.which, s.value));
      const int home = slot_[s.which][static_cast<std::size_t>(s.phase)];
      // The stored value itself may be of another slot than the store.
      if (!is_unit_value(s.which, s.value)) first = std::max(first, home);
      if (passed->second.read_back && !passed->second.solution.same && !is_unit_value(s.which, s.value))
        first = std::max(first, home + 1);
    }
  }
  for (const loop::Store& s : p.stores) {
    first = std::max(first, is_unit_value(f.which, s.value) && !(p.begin <= s.value && s.value < p.end)
                                ? ready(f.which, s.value)
                                : 0);
    // After every earlier read of what this overwrites.
    for (int which : {0, 1})
      for (std::size_t q = 0; q < kernel(which).phases.size(); ++q) {
        if (!is_earlier(which, static_cast<int>(q), f.which, f.phase)) continue;
        const Phase& other = kernel(which).phases[q];
        for (ValueId v = other.begin; v < other.end; ++v) {
          const Value& value = kernel(which).values[static_cast<std::size_t>(v)];
          if (value.op != ScalarOp::load || value.buffer != s.buffer) continue;
          const int at = slot_[which][q];
          first = std::max(first, value.index == s.index ? at : at + 1);
        }
      }
  }
  return first;
}

// The first slot in which the value can be had: where it is made, or made again from what is ready.
int Placement::ready(int which, ValueId v) {
  int& known = ready_[which][static_cast<std::size_t>(v)];
  if (known >= 0) return known;
  const Kernel& k = kernel(which);
  const int home = loop::phase_of(k, v);
  const Phase& p = k.phases[static_cast<std::size_t>(home)];
  int first = 0;
  if (is_unit_value(which, v)) {
    first = slot_[which][static_cast<std::size_t>(home)] + (p.inner.empty() ? 0 : 1);
  } else {
    const Value& value = k.values[static_cast<std::size_t>(v)];
    for (ValueId a : value.args)
      if (a != kNoValue) first = std::max(first, ready(which, a));
    if (const auto passed = passed_.find({which, v}); passed != passed_.end())
      first = std::max(first, ready(passed->second.store.which, passed->second.store.value));
  }
  return ready_[which][static_cast<std::size_t>(v)] = first;
}

}  // namespace stax::fusion
