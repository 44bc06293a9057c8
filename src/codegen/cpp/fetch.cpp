// Cache lines that are asked for before the unit that needs them.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpp/kernel_emitter.h"

namespace stax::codegen {

using fmt::format;

namespace {
// Units from the one that is computed to the one whose indirect rows are fetched.
constexpr int kUnitsAhead = 4;
}  // namespace

// Rows that do not end with a cache line share it with the next row. Its two parts are ordinary stores, which would
// wait for the line, and streaming stores behind them: it is asked for while the row before is computed.
void KernelEmitter::fetch_shared_lines() {
  if (is_outer() || is_split() || s_.order.empty()) return;
  const Expr unit = k_.outer[static_cast<std::size_t>(s_.order.back())].var;
  for (int i = 0; i < static_cast<int>(k_.phases.size()); ++i) {
    const Site site = site_of(i);
    if (site.depth() != 1 || !streams(site) || is_scan(*site.phase)) continue;
    SymbolNames next = names_;
    next[unit] = format("({} + 1)", bare(unit));
    next[site.axis] = "0";
    for (const Store& s : site.phase->stores) {
      const auto along = symbolic::linear_in(s.index, site.axis);
      const auto symbols = symbolic::symbols_of(s.index);
      const bool indirect = std::any_of(symbols.begin(), symbols.end(), [&](Expr e) { return bounded_.contains(e); });
      if (!along || !along->coefficient.is_constant(1) || indirect || !symbolic::depends_on(s.index, unit)) continue;
      out_.format_line("if (stream) v::fetch_shared_line(buf{} + {});", s.buffer, expr_(s.index, next));
    }
  }
}

// The load of a checked index, behind conversions; kNoValue when it comes from elsewhere or may change meanwhile.
ValueId KernelEmitter::index_load(ValueId bounded) const {
  ValueId v = value(bounded).args[0];
  while (value(v).op == ScalarOp::cast && is_integral(value(v).dtype) && is_integral(value(value(v).args[0]).dtype))
    v = value(v).args[0];
  if (value(v).op != ScalarOp::load) return kNoValue;
  const auto symbols = symbolic::symbols_of(value(v).index);
  if (std::any_of(symbols.begin(), symbols.end(), [&](Expr e) { return bounded_.contains(e); })) return kNoValue;
  // Another thread may be writing the index of a unit that is not this one's.
  const auto writes = loop::writes_of(k_);
  const auto same = [&](const loop::Access& a) { return a.buffer == value(v).buffer; };
  return std::any_of(writes.begin(), writes.end(), same) ? kNoValue : v;
}

// Rows that an index in memory names lie anywhere: without this each waits for its first lines, and for the page
// tables, when its turn comes.
void KernelEmitter::fetch_indirect_rows() {
  if (is_outer() || is_split() || s_.order.empty()) return;
  const loop::Axis& unit = k_.outer[static_cast<std::size_t>(s_.order.back())];
  SymbolNames next = names_;
  next[unit.var] = format("({} + {})", bare(unit.var), kUnitsAhead);
  std::set<std::string> fetched;
  for (int i = 0; i < static_cast<int>(k_.phases.size()); ++i) {
    const Phase& phase = k_.phases[static_cast<std::size_t>(i)];
    if (phase.inner.size() != 1) continue;
    const loop::Axis& row = phase.inner[0];
    for (ValueId id = phase.begin; id < phase.end; ++id) {
      const Value& v = value(id);
      if (v.op != ScalarOp::load) continue;
      const auto along = symbolic::linear_in(v.index, row.var);
      if (!along || !along->coefficient.is_constant(1)) continue;
      ValueId bounded = kNoValue;
      int count = 0;
      for (Expr s : symbolic::symbols_of(v.index))
        if (const auto it = bounded_.find(s); it != bounded_.end()) bounded = it->second, ++count;
      if (count != 1 || loop::phase_of(k_, bounded) >= i) continue;
      const ValueId source = index_load(bounded);
      if (source == kNoValue || !symbolic::depends_on(value(source).index, unit.var)) continue;
      next[value(bounded).symbol] = "row";
      const std::string first = format("buf{} + {}", v.buffer, expr_(along->rest, next));
      next[value(bounded).symbol] = names_.at(value(bounded).symbol);
      if (!fetched.insert(first).second) continue;
      const auto block = out_.block(format("if ({} + {} < {}) {{", bare(unit.var), kUnitsAhead, text_of(unit.extent)));
      out_.format_line("const i64 row = v::nearest((i64)v::load1(buf{} + {}), {}, {});", value(source).buffer,
                       expr_(value(source).index, next), bare(value(bounded).index), value(bounded).wraps_negative);
      out_.format_line("v::fetch_row({}, {});", first, bare(row.extent));
    }
  }
}

}  // namespace stax::codegen
