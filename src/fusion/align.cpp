#include "fusion/align.h"

#include <fmt/format.h>

#include <algorithm>

#include "fusion/axis_match.h"

namespace stax::fusion {

using loop::Access;
using loop::Axis;
using loop::Expr;
using loop::Kernel;
using loop::Phase;
using loop::Program;
using loop::Value;
using symbolic::SymbolMap;
using Entry = AxisMatch::Side::Entry;

bool has_rows(const Kernel& k) {
  return std::any_of(k.phases.begin(), k.phases.end(), [](const Phase& p) { return !p.inner.empty(); });
}

namespace {

std::string domain_text(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& e : entries)
    if (e.outer) text += (text.empty() ? "" : ", ") + symbolic::to_string(e.axis.extent);
  return "(" + text + ")";
}

// Pairs of accesses to one buffer: what b reads of a's stores, what b overwrites, then what both read, most bytes
// first.
void match_accesses(AxisMatch& m, const Sizes& sizes, const Kernel& a, const Kernel& b) {
  const auto reads_a = loop::reads_of(a), reads_b = loop::reads_of(b);
  const auto writes_a = loop::writes_of(a), writes_b = loop::writes_of(b);
  const auto match_all = [&](const std::vector<Access>& xs, const std::vector<Access>& ys) {
    for (const Access& x : xs)
      for (const Access& y : ys)
        if (x.buffer == y.buffer) m.match(x.index, y.index);
  };
  match_all(writes_a, reads_b);
  match_all(reads_a, writes_b);
  struct Shared {
    Expr a, b;
    std::int64_t bytes;
  };
  std::vector<Shared> shared;
  for (const Access& x : reads_a)
    for (const Access& y : reads_b)
      if (x.buffer == y.buffer) shared.push_back({x.index, y.index, footprint(sizes, a, x.phase, x.index)});
  std::stable_sort(shared.begin(), shared.end(), [](const Shared& x, const Shared& y) { return x.bytes > y.bytes; });
  for (const Shared& s : shared) m.match(s.a, s.b);
}

std::vector<std::size_t> unpaired(const AxisMatch::Side& side, bool outer) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < side.entries.size(); ++i)
    if (side.entries[i].outer == outer && side.entries[i].partner < 0) result.push_back(i);
  return result;
}

// Pairs what is left on both sides by position when the extents agree.
void pair_by_extent(AxisMatch& m, const std::vector<std::size_t>& left_a, const std::vector<std::size_t>& left_b) {
  if (left_a.size() != left_b.size()) return;
  for (std::size_t i = 0; i < left_a.size(); ++i)
    if (m.a().entries[left_a[i]].axis.extent != m.b().entries[left_b[i]].axis.extent) return;
  for (std::size_t i = 0; i < left_a.size(); ++i) m.pair(left_a[i], left_b[i]);
}

bool is_paired_outside(const Entry& e, const AxisMatch::Side& other) {
  return e.partner >= 0 && other.entries[static_cast<std::size_t>(e.partner)].outer;
}

bool all_outer_paired_outside(const AxisMatch::Side& side, const AxisMatch::Side& other) {
  return std::all_of(side.entries.begin(), side.entries.end(),
                     [&](const Entry& e) { return !e.outer || is_paired_outside(e, other); });
}

Kernel renamed(const Kernel& k, const SymbolMap& map) {
  Kernel r = k;
  if (map.empty()) return r;
  for (Value& v : r.values)
    if (v.index) v.index = symbolic::substitute(v.index, map);
  for (Phase& p : r.phases)
    for (loop::Store& s : p.stores) s.index = symbolic::substitute(s.index, map);
  return r;
}

// Writes the result of the match: axes of b take the names of their partners.
class Renaming {
 public:
  explicit Renaming(const AxisMatch& m) : m_(m), map_a_(m.a().splits), map_b_(m.b().splits) {
    SymbolMap partners;
    for (const Entry& e : m.b().entries)
      if (e.partner >= 0) partners[e.axis.var] = m.a().entries[static_cast<std::size_t>(e.partner)].axis.var;
    for (auto& [var, value] : map_b_) value = symbolic::substitute(value, partners);
    for (const auto& [var, value] : partners) map_b_.emplace(var, value);
  }

  Axis axis(bool is_b, const Entry& e) const {
    if (!is_b) return e.axis;
    if (e.partner >= 0) return m_.a().entries[static_cast<std::size_t>(e.partner)].axis;
    return {e.axis.var, map_b_.empty() ? e.axis.extent : symbolic::substitute(e.axis.extent, map_b_)};
  }

  // The kernel over `outer` axes. Its own outer axes that are not among those become inner axes of its one phase; when
  // it `follows`, inner axes take the order of the other kernel.
  Kernel kernel(bool is_b, const Kernel& k, const std::vector<Axis>& outer, bool follows) const {
    const auto& entries = (is_b ? m_.b() : m_.a()).entries;
    Kernel r = renamed(k, is_b ? map_b_ : map_a_);
    r.outer = outer;
    const auto is_outer = [&](const Axis& a) {
      return std::any_of(outer.begin(), outer.end(), [&](const Axis& o) { return o.var == a.var; });
    };
    for (Phase& p : r.phases) {
      std::vector<const Entry*> inner;
      if (p.inner.empty() && !has_rows(k)) {
        for (const Entry& e : entries)
          if (!is_outer(axis(is_b, e))) inner.push_back(&e);
      }
      for (const Axis& a : p.inner)
        for (const Entry& e : entries)
          if (e.origin == a.var) inner.push_back(&e);
      if (follows) order_as_partners(inner, k, p);
      p.inner.clear();
      for (const Entry* e : inner) p.inner.push_back(axis(is_b, *e));
    }
    return r;
  }

 private:
  // Paired axes in the order of their partners, then the others. The order of a scan is part of its meaning.
  static void order_as_partners(std::vector<const Entry*>& inner, const Kernel& k, const Phase& p) {
    if (std::any_of(k.values.begin() + p.begin, k.values.begin() + p.end,
                    [](const Value& v) { return v.op == loop::ScalarOp::scan; }))
      return;
    std::stable_sort(inner.begin(), inner.end(), [](const Entry* x, const Entry* y) {
      return static_cast<unsigned>(x->partner) < static_cast<unsigned>(y->partner);  // -1 comes last
    });
  }

  const AxisMatch& m_;
  SymbolMap map_a_, map_b_;
};

// Whose outer axes are the units: 0 a's, 1 b's, -1 none.
int side_of_units(const AxisMatch& m, bool rows_a, bool rows_b, std::string& reason) {
  const bool fits_a = all_outer_paired_outside(m.a(), m.b()), fits_b = all_outer_paired_outside(m.b(), m.a());
  if (rows_a && rows_b) {
    if (fits_a && fits_b) return 0;
  } else if (rows_a || rows_b) {
    if (rows_a ? fits_a : fits_b) return rows_a ? 0 : 1;
  } else if (fits_a || fits_b) {
    return fits_a ? 0 : 1;
  }
  const auto crossed = [](const AxisMatch::Side& side, const AxisMatch::Side& other) {
    return std::any_of(side.entries.begin(), side.entries.end(), [&](const Entry& e) {
      return e.outer && e.partner >= 0 && !other.entries[static_cast<std::size_t>(e.partner)].outer;
    });
  };
  if (rows_a && rows_b && (crossed(m.a(), m.b()) || crossed(m.b(), m.a())))
    reason = "they reduce over different axes";
  else
    reason = fmt::format("their units differ: {} against {}", domain_text(m.a().entries), domain_text(m.b().entries));
  return -1;
}

}  // namespace

std::optional<Aligned> align(Program& program, const Sizes& sizes, const Kernel& a, const Kernel& b,
                             std::string& reason) {
  AxisMatch m(program, a, b);
  match_accesses(m, sizes, a, b);
  const bool rows_a = has_rows(a), rows_b = has_rows(b);
  if (rows_a == rows_b) pair_by_extent(m, unpaired(m.a(), true), unpaired(m.b(), true));
  const int units = side_of_units(m, rows_a, rows_b, reason);
  if (units < 0) return std::nullopt;
  // Inner axes of equal extents become the same axis, so that the row has one length.
  pair_by_extent(m, unpaired(m.a(), !rows_a), unpaired(m.b(), !rows_b));

  const Renaming renaming(m);
  std::vector<Axis> outer;
  const auto &side = units == 0 ? m.a() : m.b(), &other = units == 0 ? m.b() : m.a();
  for (const Entry& e : side.entries)
    if (e.outer && is_paired_outside(e, other)) outer.push_back(renaming.axis(units == 1, e));
  return Aligned{renaming.kernel(false, a, outer, units == 1), renaming.kernel(true, b, outer, units == 0)};
}

}  // namespace stax::fusion
