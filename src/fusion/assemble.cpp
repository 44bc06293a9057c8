#include "fusion/assemble.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "fusion/placement.h"
#include "loop/builder.h"
#include "loop/transform.h"

namespace stax::fusion {

using loop::BufferId;
using loop::Expr;
using loop::Kernel;
using loop::kNoValue;
using loop::Phase;
using loop::Program;
using loop::ScalarOp;
using loop::Value;
using loop::ValueId;
using symbolic::SymbolMap;

namespace {

// Emits the placed phases. `Refused` carries a reason out of the recursion.
struct Refused {
  std::string reason;
};

class Assembler {
 public:
  Assembler(Program& program, const Placement& placement, const AssembleOptions& options)
      : program_(program), placement_(placement), options_(options), builder_(program, placement.kernel(0).name) {
    for (int w : {0, 1}) done_[w].assign(placement.kernel(w).values.size(), kNoValue);
  }

  Kernel run() {
    for (const loop::Axis& a : placement_.kernel(0).outer) builder_.add_outer(a);
    for (slot_ = 0; slot_ < placement_.slots().size(); ++slot_) {
      const Slot& slot = placement_.slots()[slot_];
      builder_.phase_with(slot.inner);
      mappings_.assign(1, {});
      memo_.clear();
      bounded_.clear();
      for (const Fragment& f : slot.fragments) emit_phase(f);
    }
    return builder_.finish();
  }

 private:
  struct Mapping {
    SymbolMap inner;  // inner axes of the source phase → expressions here
    SymbolMap all;    // `inner` and the symbols of bounded values
  };

  void emit_phase(const Fragment& f) {
    const Phase& p = placement_.phase(f);
    for (ValueId v = p.begin; v < p.end; ++v) emit(f.which, v, 0);
    for (const loop::Store& s : p.stores) {
      if (!options_.needed_elsewhere(s.buffer)) continue;
      builder_.store(s.buffer, expression(f.which, s.index, 0), emit(f.which, s.value, 0));
    }
  }

  int mapping_of(const SymbolMap& inner) {
    const bool identity = std::all_of(inner.begin(), inner.end(), [](const auto& e) { return e.first == e.second; });
    if (identity) return 0;
    for (std::size_t i = 1; i < mappings_.size(); ++i)
      if (mappings_[i].inner == inner) return static_cast<int>(i);
    mappings_.push_back({inner, inner});
    return static_cast<int>(mappings_.size()) - 1;
  }

  // The expression of a source kernel, in terms of this slot. Bounded values that it mentions are emitted first.
  Expr expression(int which, Expr e, int mapping) {
    if (!e) return e;
    const auto& symbols = placement_.bounded_symbols(which);
    if (!symbols.empty())
      for (Expr s : symbolic::symbols_of(e))
        if (const auto found = symbols.find(s); found != symbols.end()) emit(which, found->second, mapping);
    const SymbolMap& all = mappings_[static_cast<std::size_t>(mapping)].all;
    SymbolMap both = unit_symbols_;
    for (const auto& [from, to] : all) both[from] = to;
    return both.empty() ? e : symbolic::substitute(e, both);
  }

  ValueId emit(int which, ValueId v, int mapping) {
    const Kernel& k = placement_.kernel(which);
    const bool of_unit = placement_.is_unit_value(which, v);
    if (of_unit && done_[which][static_cast<std::size_t>(v)] != kNoValue)
      return done_[which][static_cast<std::size_t>(v)];
    if (of_unit) {
      const int home = placement_.slot_of(which, loop::phase_of(k, v));
      if (home != static_cast<int>(slot_)) throw Refused{"a value of the unit is not ready where it is needed"};
      mapping = 0;
    }
    const auto key = std::tuple(which, v, mapping);
    if (const auto found = memo_.find(key); found != memo_.end()) return found->second;
    const ValueId id = compute(which, k.values[static_cast<std::size_t>(v)], v, mapping);
    memo_[key] = id;
    if (of_unit) done_[which][static_cast<std::size_t>(v)] = id;
    return id;
  }

  ValueId compute(int which, const Value& source, ValueId v, int mapping) {
    if (source.op == ScalarOp::load) return load(which, source, v, mapping);
    const bool scans = source.op == ScalarOp::scan ||
                       (source.op == ScalarOp::part &&
                        placement_.kernel(which).values[static_cast<std::size_t>(source.args[0])].op == ScalarOp::scan);
    if (scans && (mapping != 0 ||
                  placement_.slot_of(which, loop::phase_of(placement_.kernel(which), v)) != static_cast<int>(slot_)))
      throw Refused{"a running value of a scan would be needed after its phase"};
    Value copy = source;
    for (ValueId& a : copy.args)
      if (a != kNoValue) a = emit(which, a, mapping);
    copy.index = expression(which, source.index, mapping);
    return source.op == ScalarOp::bounded ? bounded(which, v, copy, mapping) : builder_.append(copy);
  }

  ValueId bounded(int which, ValueId v, Value copy, int mapping) {
    SymbolMap& symbols =
        placement_.is_unit_value(which, v) ? unit_symbols_ : mappings_[static_cast<std::size_t>(mapping)].all;
    const Expr original = copy.symbol;
    const auto key = std::tuple(copy.args[0], copy.index.node(), copy.wraps_negative, copy.checked);
    for (const auto* known : {&unit_bounded_, &bounded_})
      if (const auto found = known->find(key); found != known->end()) {
        symbols[original] = found->second.second;
        return found->second.first;
      }
    // The first copy keeps its symbol; copies in other phases need their own.
    if (!used_symbols_.emplace(original.node(), true).second) copy.symbol = program_.fresh_indirect(copy.index);
    const ValueId id = builder_.append(copy);
    symbols[original] = copy.symbol;
    const bool in_unit = placement_.slots()[slot_].inner.empty();
    (in_unit ? unit_bounded_ : bounded_)[key] = {id, copy.symbol};
    return id;
  }

  ValueId load(int which, const Value& source, ValueId v, int mapping) {
    const Expr address = expression(which, source.index, mapping);
    const auto passed = placement_.passed(which, v);
    if (!passed) {
      check_unchanged(which, v, address);
      Value copy = source;
      copy.index = address;
      return builder_.append(copy);
    }
    const StoreRef& from = passed->store;
    SymbolMap inner = passed->solution.values;
    if (mapping != 0)
      for (auto& [axis, e] : inner) e = symbolic::substitute(e, mappings_[static_cast<std::size_t>(mapping)].inner);
    const bool identity = std::all_of(inner.begin(), inner.end(), [](const auto& e) { return e.first == e.second; });
    const bool direct = placement_.is_unit_value(from.which, from.value) ||
                        (identity && placement_.slot_of(from.which, from.phase) == static_cast<int>(slot_));
    if (!direct && passed->read_back) {
      if (placement_.slot_of(from.which, from.phase) >= static_cast<int>(slot_))
        throw Refused{"a stored value would be read back in its own phase"};
      Value copy = source;
      copy.index = address;
      return builder_.append(copy);
    }
    const ValueId value = emit(from.which, from.value, mapping_of(inner));
    return converted(source.buffer, value);
  }

  // What a store and a load of the buffer would make of the value.
  ValueId converted(BufferId buffer, ValueId value) {
    const Dtype stored = program_.buffers[static_cast<std::size_t>(buffer)].dtype;
    const ValueId id = builder_.cast(value, compute_dtype(stored));
    if (!is_half(stored)) return id;
    const bool kept = options_.needed_elsewhere(buffer);
    if (!kept && !options_.strict) return id;
    Value r;
    r.op = ScalarOp::round_to;
    r.dtype = Dtype::f32;
    r.args[0] = id;
    r.half = stored;
    if (!options_.strict) r.buffer = buffer;
    return builder_.append(r);
  }

  // A load that must see the buffer before a store of the joined kernel.
  void check_unchanged(int which, ValueId v, Expr address) {
    for (const StoreRef& s : placement_.later_stores(which, v)) {
      const int at = placement_.slot_of(s.which, s.phase);
      const auto now = static_cast<int>(slot_);
      if (at < now) throw Refused{"an input would be read after it was overwritten"};
      if (at == now && s.index != address) throw Refused{"an input is overwritten at another index in the same phase"};
      if (at > now && !placement_.stays_in_unit(s, address, placement_.slots()[slot_].inner))
        throw Refused{"an input is overwritten by other units than those that read it"};
    }
  }

  Program& program_;
  const Placement& placement_;
  const AssembleOptions& options_;
  loop::KernelBuilder builder_;
  std::size_t slot_ = 0;
  std::vector<ValueId> done_[2];  // values of the unit
  std::vector<Mapping> mappings_;
  std::map<std::tuple<int, ValueId, int>, ValueId> memo_;
  using BoundedTable = std::map<std::tuple<ValueId, const symbolic::Node*, bool, bool>, std::pair<ValueId, Expr>>;
  BoundedTable bounded_, unit_bounded_;
  SymbolMap unit_symbols_;
  std::unordered_map<const symbolic::Node*, bool> used_symbols_;
};

}  // namespace

std::optional<Kernel> assemble(Program& program, const Aligned& kernels, const AssembleOptions& options,
                               std::string& reason) {
  const auto placement = Placement::make(program, kernels, options.needed_elsewhere, reason);
  if (!placement) return std::nullopt;
  try {
    return Assembler(program, *placement, options).run();
  } catch (const Refused& r) {
    reason = r.reason;
    return std::nullopt;
  }
}

void drop_needless_rounding(Kernel& k, const std::function<bool(BufferId)>& is_stored) {
  std::vector<ValueId> same(k.values.size());
  bool changed = false;
  for (std::size_t i = 0; i < k.values.size(); ++i) {
    Value& v = k.values[i];
    for (ValueId& a : v.args)
      if (a != kNoValue) a = same[static_cast<std::size_t>(a)];
    same[i] = static_cast<ValueId>(i);
    if (v.op != ScalarOp::round_to || v.buffer < 0) continue;
    if (!is_stored(v.buffer)) {
      same[i] = v.args[0];
      changed = true;
    }
    v.buffer = -1;
  }
  for (Phase& p : k.phases)
    for (loop::Store& s : p.stores) s.value = same[static_cast<std::size_t>(s.value)];
  if (changed) loop::eliminate_dead_values(k);
}

}  // namespace stax::fusion
