#include "fusion/axis_match.h"

#include <algorithm>
#include <optional>

namespace stax::fusion {

using loop::Axis;
using loop::Expr;
using loop::Kernel;

AxisMatch::AxisMatch(loop::Program& program, const Kernel& a, const Kernel& b)
    : program_(program), a_(side_of(a)), b_(side_of(b)) {}

AxisMatch::Side AxisMatch::side_of(const Kernel& k) {
  Side side;
  for (const Axis& a : k.outer) side.entries.push_back({a, a.var, true, false, -1});
  for (const loop::Phase& p : k.phases) {
    const bool scans = std::any_of(k.values.begin() + p.begin, k.values.begin() + p.end,
                                   [](const loop::Value& v) { return v.op == loop::ScalarOp::scan; });
    for (const Axis& a : p.inner) {
      auto known = std::find_if(side.entries.begin(), side.entries.end(),
                                [&](const Side::Entry& e) { return e.axis.var == a.var; });
      if (known == side.entries.end()) known = side.entries.insert(side.entries.end(), {a, a.var, false, false, -1});
      known->rigid |= scans;
    }
  }
  return side;
}

std::optional<std::vector<AxisMatch::Term>> AxisMatch::terms(const Side& side, Expr address) {
  address = side.splits.empty() ? address : symbolic::substitute(address, side.splits);
  std::vector<Term> result;
  for (std::size_t i = 0; i < side.entries.size(); ++i) {
    const Expr var = side.entries[i].axis.var;
    if (!symbolic::depends_on(address, var)) continue;
    const auto linear = symbolic::linear_in(address, var);
    if (!linear) return std::nullopt;
    for (const Side::Entry& e : side.entries)
      if (symbolic::depends_on(linear->coefficient, e.axis.var)) return std::nullopt;
    for (const Term& t : result)
      if (t.stride == linear->coefficient) return std::nullopt;  // overlapping: no order to compare
    result.push_back({i, linear->coefficient});
  }
  return result;
}

std::size_t AxisMatch::split(Side& side, Side& other, std::size_t entry, Expr part, Expr quotient) {
  Side::Entry& e = side.entries[entry];
  const char letter = e.outer ? 'i' : 'r';
  const Axis high{program_.fresh_axis(quotient, letter), quotient}, low{program_.fresh_axis(part, letter), part};
  const Expr whole = high.var * part + low.var;
  symbolic::SymbolMap now{{e.axis.var, whole}};
  for (auto& [var, value] : side.splits) value = symbolic::substitute(value, now);
  side.splits[e.axis.var] = whole;
  e.axis = high;
  side.entries.insert(side.entries.begin() + static_cast<std::ptrdiff_t>(entry) + 1,
                      {low, e.origin, e.outer, e.rigid, -1});
  for (Side::Entry& o : other.entries)
    if (o.partner > static_cast<int>(entry)) ++o.partner;
  return entry;
}

bool AxisMatch::match(Expr address_a, Expr address_b) {
  const Side old_a = a_, old_b = b_;
  // A split pays only when both halves meet an axis of the other side: half a row is not a reason to cut the row.
  for (const bool may_split : {true, false}) {
    auto ta = terms(a_, address_a), tb = terms(b_, address_b);
    if (ta && tb && match_terms(std::move(*ta), std::move(*tb), may_split) && all_paired_since(a_, old_a) &&
        all_paired_since(b_, old_b))
      return true;
    const bool has_split = a_.splits.size() + b_.splits.size() > old_a.splits.size() + old_b.splits.size();
    a_ = old_a;
    b_ = old_b;
    if (!has_split) break;
  }
  return false;
}

bool AxisMatch::all_paired_since(const Side& now, const Side& before) {
  return std::all_of(now.entries.begin(), now.entries.end(), [&](const Side::Entry& e) {
    return e.partner >= 0 || std::any_of(before.entries.begin(), before.entries.end(),
                                         [&](const Side::Entry& o) { return o.axis.var == e.axis.var; });
  });
}

bool AxisMatch::match_terms(std::vector<Term> ta, std::vector<Term> tb, bool may_split) {
  if (ta.empty() || tb.empty()) return true;
  bool paired = false;
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t i = 0; i < ta.size() && !progress; ++i) {
      const auto j = std::find_if(tb.begin(), tb.end(), [&](const Term& t) { return t.stride == ta[i].stride; });
      if (j == tb.end()) continue;
      progress = true;
      Term a = ta[i], b = *j;
      ta.erase(ta.begin() + static_cast<std::ptrdiff_t>(i));
      tb.erase(j);
      Side::Entry &ea = a_.entries[a.entry], &eb = b_.entries[b.entry];
      if (ea.partner >= 0 || eb.partner >= 0) {
        if (ea.partner != static_cast<int>(b.entry) || eb.partner != static_cast<int>(a.entry)) return false;
        paired = true;
        continue;
      }
      if (ea.axis.extent == eb.axis.extent) {
        ea.partner = static_cast<int>(b.entry);
        eb.partner = static_cast<int>(a.entry);
        paired = true;
        continue;
      }
      // The longer axis is split; its outer half stays in the game with the larger stride.
      const Expr extent_a = ea.axis.extent, extent_b = eb.axis.extent;
      const Expr longer_b = exact_quotient(extent_b, extent_a), longer_a = exact_quotient(extent_a, extent_b);
      const bool split_b = static_cast<bool>(longer_b);
      if (!may_split || (!longer_a && !longer_b) || (split_b ? eb : ea).rigid) continue;
      Side &side = split_b ? b_ : a_, &other = split_b ? a_ : b_;
      auto &own = split_b ? tb : ta, &others = split_b ? ta : tb;
      const Term t = split_b ? b : a, o = split_b ? a : b;
      const Expr part = split_b ? extent_a : extent_b;
      const std::size_t at = split(side, other, t.entry, part, split_b ? longer_b : longer_a);
      for (Term& x : own)
        if (x.entry > at) ++x.entry;
      own.push_back({at, t.stride * part});
      own.push_back({at + 1, t.stride});
      others.push_back(o);
    }
  }
  return paired;
}

bool AxisMatch::pair(std::size_t entry_a, std::size_t entry_b) {
  Side::Entry &a = a_.entries[entry_a], &b = b_.entries[entry_b];
  if (a.partner >= 0 || b.partner >= 0 || a.axis.extent != b.axis.extent) return false;
  a.partner = static_cast<int>(entry_b);
  b.partner = static_cast<int>(entry_a);
  return true;
}

}  // namespace stax::fusion
