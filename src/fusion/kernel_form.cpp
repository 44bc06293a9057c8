#include "fusion/kernel_form.h"

#include <algorithm>
#include <set>

#include "loop/transform.h"

namespace stax::fusion {

using loop::Axis;
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

void substitute_in(Kernel& k, const Phase& p, std::vector<loop::Store>& stores, const SymbolMap& map) {
  for (ValueId v = p.begin; v < p.end; ++v) {
    Expr& index = k.values[static_cast<std::size_t>(v)].index;
    if (index) index = symbolic::substitute(index, map);
  }
  for (loop::Store& s : stores) s.index = symbolic::substitute(s.index, map);
}

bool scans(const Kernel& k, const Phase& p) {
  return std::any_of(k.values.begin() + p.begin, k.values.begin() + p.end,
                     [](const Value& v) { return v.op == ScalarOp::scan; });
}

bool combines(const Kernel& k, const Phase& p) {
  return std::any_of(k.values.begin() + p.begin, k.values.begin() + p.end,
                     [](const Value& v) { return v.op == ScalarOp::combine; });
}

// Removes axes of extent 1 and adds their values, 0, to the map. A phase keeps one axis when it needs one.
void drop_units(std::vector<Axis>& axes, bool keep_one, SymbolMap& map) {
  std::vector<Axis> kept;
  for (const Axis& a : axes)
    if (!a.extent.is_constant(1)) kept.push_back(a);
  if (kept.empty() && keep_one && !axes.empty()) kept.push_back(axes.back());
  for (const Axis& a : axes)
    if (std::none_of(kept.begin(), kept.end(), [&](const Axis& x) { return x.var == a.var; }))
      map[a.var] = a.var.context().constant(0);
  axes = std::move(kept);
}

}  // namespace

void share_row_axes(Kernel& k) {
  SymbolMap outer;
  drop_units(k.outer, false, outer);
  std::vector<std::vector<Axis>> known;
  for (Phase& p : k.phases) {
    SymbolMap map = outer;
    drop_units(p.inner, combines(k, p) || scans(k, p), map);
    if (!p.inner.empty()) {
      const auto same = std::find_if(known.begin(), known.end(), [&](const std::vector<Axis>& axes) {
        return std::equal(axes.begin(), axes.end(), p.inner.begin(), p.inner.end(),
                          [](const Axis& x, const Axis& y) { return x.extent == y.extent; });
      });
      if (same == known.end()) {
        known.push_back(p.inner);
      } else {
        for (std::size_t i = 0; i < p.inner.size(); ++i) map[p.inner[i].var] = (*same)[i].var;
        p.inner = *same;
      }
    }
    if (!map.empty()) substitute_in(k, p, p.stores, map);
  }
}

void separate_row_axes(Program& program, Kernel& k) {
  std::set<const symbolic::Node*> used;
  for (Phase& p : k.phases) {
    SymbolMap map;
    for (Axis& a : p.inner) {
      if (used.insert(a.var.node()).second && a.var.name().front() == 'r') continue;
      const Expr fresh = program.fresh_axis(a.extent, 'r');
      map[a.var] = fresh;
      a.var = fresh;
      used.insert(fresh.node());
    }
    if (!map.empty()) substitute_in(k, p, p.stores, map);
  }
}

namespace {

// `runs`: the loop has at least one iteration, so what may raise an error would have been computed anyway.
bool may_move(const Value& v, bool runs) {
  switch (v.op) {
    case ScalarOp::combine:
    case ScalarOp::scan:
    case ScalarOp::part:
    case ScalarOp::random:
      return false;
    case ScalarOp::load:
    case ScalarOp::bounded:
      return runs;
    case ScalarOp::floor_div:
    case ScalarOp::trunc_div:
    case ScalarOp::floor_mod:
    case ScalarOp::trunc_mod:
      return runs || is_floating(v.dtype);
    default:
      return true;
  }
}

// Which values of a phase do not change along its inner axes and are worth moving: they come from loads or unit values.
std::vector<bool> unit_values_of(const Program& program, const Kernel& k, const Phase& p,
                                 const std::set<loop::BufferId>& stored) {
  const auto n = static_cast<std::size_t>(p.end - p.begin);
  std::vector<bool> fixed(n, false), useful(n, false);
  const bool runs = std::all_of(p.inner.begin(), p.inner.end(), [&](const Axis& a) {
    return symbolic::always(symbolic::ge(a.extent, 1), &program.facts);
  });
  std::vector<Axis> varying = p.inner;
  for (std::size_t i = 0; i < n; ++i) {
    const Value& v = k.values[static_cast<std::size_t>(p.begin) + i];
    bool same = may_move(v, runs) && (!v.index || !mentions(v.index, varying)), from_unit = v.op == ScalarOp::load;
    if (v.op == ScalarOp::load) same = same && !stored.contains(v.buffer);
    for (ValueId a : v.args) {
      if (a == kNoValue) continue;
      const bool here = a >= p.begin;
      same = same && (!here || fixed[static_cast<std::size_t>(a - p.begin)]);
      from_unit = from_unit || !here || useful[static_cast<std::size_t>(a - p.begin)];
    }
    fixed[i] = same;
    useful[i] = same && from_unit;
    if (v.op == ScalarOp::bounded && !useful[i]) varying.push_back({v.symbol, {}});
  }
  // Leaves move along with what uses them.
  for (std::size_t i = n; i-- > 0;)
    if (useful[i])
      for (ValueId a : k.values[static_cast<std::size_t>(p.begin) + i].args)
        if (a != kNoValue && a >= p.begin) useful[static_cast<std::size_t>(a - p.begin)] = true;
  return useful;
}

}  // namespace

void hoist_unit_values(const Program& program, Kernel& k) {
  std::set<loop::BufferId> stored;
  for (const loop::Access& w : loop::writes_of(k)) stored.insert(w.buffer);
  std::vector<Value> values;
  std::vector<Phase> phases;
  std::vector<ValueId> renamed(k.values.size(), kNoValue);
  const auto move = [&](ValueId v) {
    renamed[static_cast<std::size_t>(v)] = static_cast<ValueId>(values.size());
    values.push_back(k.values[static_cast<std::size_t>(v)]);
    for (ValueId& a : values.back().args)
      if (a != kNoValue) a = renamed[static_cast<std::size_t>(a)];
  };
  for (const Phase& p : k.phases) {
    std::vector<bool> out(static_cast<std::size_t>(p.end - p.begin), false);
    if (!p.inner.empty()) out = unit_values_of(program, k, p, stored);
    if (std::find(out.begin(), out.end(), true) != out.end()) {
      if (phases.empty() || !phases.back().inner.empty()) {
        const auto at = static_cast<ValueId>(values.size());
        phases.push_back({{}, at, at, {}});
      }
      for (ValueId v = p.begin; v < p.end; ++v)
        if (out[static_cast<std::size_t>(v - p.begin)]) move(v);
      phases.back().end = static_cast<ValueId>(values.size());
    }
    Phase next{p.inner, static_cast<ValueId>(values.size()), 0, p.stores};
    for (ValueId v = p.begin; v < p.end; ++v)
      if (!out[static_cast<std::size_t>(v - p.begin)]) move(v);
    next.end = static_cast<ValueId>(values.size());
    for (loop::Store& s : next.stores) s.value = renamed[static_cast<std::size_t>(s.value)];
    phases.push_back(std::move(next));
  }
  k.values = std::move(values);
  k.phases = std::move(phases);
  loop::eliminate_common_values(k);
}

std::string kernel_name(const Program& program, const Kernel& k) {
  constexpr std::size_t kLongest = 48;
  bool reduces = false, again = false, scanned = false;
  for (const Phase& p : k.phases) {
    again = again || (reduces && !p.inner.empty());
    reduces = reduces || combines(k, p);
    scanned = scanned || scans(k, p);
  }
  const std::string form = scanned ? "scan" : reduces ? (again ? "per" : "red") : "poi";
  std::set<int> origins;
  for (const Value& v : k.values)
    if (v.origin >= 0) origins.insert(v.origin);
  std::string name = form;
  std::set<std::string> seen;
  for (int o : origins) {
    const std::string& op = program.origins[static_cast<std::size_t>(o)].op;
    if (!seen.insert(op).second) continue;
    if (name.size() + op.size() + 1 > kLongest) {
      name += "_etc";
      break;
    }
    name += "_" + op;
  }
  if (!origins.empty()) return name;
  const auto underscore = k.name.find('_');
  return underscore == std::string::npos ? form + "_" + k.name : form + k.name.substr(underscore);
}

}  // namespace stax::fusion
