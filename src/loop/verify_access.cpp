// Addresses of a kernel: independence of its units, and bounds.
#include <fmt/format.h>

#include <algorithm>

#include "loop/address_solve.h"
#include "loop/domain.h"
#include "loop/verify.h"

namespace stax::loop {
namespace {

[[noreturn]] void fail(const Program& p, const Kernel& k, const Access& a, const std::string& problem) {
  throw InternalError(fmt::format("loop IR: kernel {}, phase {}: {}[{}]: {}", k.name, a.phase,
                                  p.buffers[static_cast<std::size_t>(a.buffer)].name, symbolic::to_string(a.index),
                                  problem));
}

bool is_indirect(const Kernel& k, Expr e) {
  return std::any_of(k.values.begin(), k.values.end(),
                     [&](const Value& v) { return v.op == ScalarOp::bounded && symbolic::depends_on(e, v.symbol); });
}

// The unit of the load stores the element itself, for every index of the load.
bool is_own_element(const Program& p, const Kernel& k, const Access& load, const Access& store) {
  const auto inner = [&](const Access& a) -> const std::vector<Axis>& {
    return k.phases[static_cast<std::size_t>(a.phase)].inner;
  };
  const auto s = solve(p, store.index, inner(store), load.index, k.outer, inner(load));
  return s && symbolic::substitute(store.index, s->values) == load.index;
}

// A load of a later phase may read what its own unit stored: the address advances with the outer axes as the store's
// does, and the rest stays within what the unit covers.
bool stays_in_unit(const Program& p, const Kernel& k, const Access& load, const Access& store) {
  Expr a = load.index, b = store.index;
  const Domain domain(p.facts);
  for (const Axis& axis : k.outer) {
    const auto la = symbolic::linear_in(a, axis.var), lb = symbolic::linear_in(b, axis.var);
    if (!la || !lb || !domain.is_equal(la->coefficient, lb->coefficient)) return false;
    a = la->rest;
    b = lb->rest;
  }
  const Domain at_load(p, k, load.phase), at_store(p, k, store.phase);
  const auto lo_a = at_load.lower(a), hi_a = at_load.upper(a), lo_b = at_store.lower(b), hi_b = at_store.upper(b);
  return lo_a && hi_a && lo_b && hi_b && symbolic::always(symbolic::ge(*lo_a, *lo_b), &at_load.facts()) &&
         symbolic::always(symbolic::le(*hi_a, *hi_b), &at_load.facts());
}

// Coefficient of each outer axis in an address; nullopt where it is not linear.
std::vector<std::optional<Expr>> coefficients(const Kernel& k, Expr address) {
  std::vector<std::optional<Expr>> result;
  for (const Axis& axis : k.outer) {
    const auto l = symbolic::linear_in(address, axis.var);
    result.push_back(l ? std::optional(l->coefficient) : std::nullopt);
  }
  return result;
}

// One step along a and some steps along b (at least one, within its extent) provably move the address equally.
bool collide(const Program& p, const Axis& a, Expr ca, const Axis& b, Expr cb) {
  if (!symbolic::always(symbolic::ge(a.extent, 2), &p.facts)) return false;
  std::int64_t steps = 1;
  if (const auto x = ca.constant(), y = cb.constant(); x && y) {
    if (*y == 0 || *x == 0 || *x % *y != 0) return false;
    steps = *x / *y < 0 ? -(*x / *y) : *x / *y;
  } else if (ca != cb) {
    return false;
  }
  return symbolic::always(symbolic::gt(b.extent, p.context->constant(steps)), &p.facts);
}

void verify_distinct(const Program& p, const Kernel& k, const Access& w) {
  const auto c = coefficients(k, w.index);
  for (std::size_t a = 0; a < c.size(); ++a)
    for (std::size_t b = 0; b < c.size(); ++b)
      if (a != b && c[a] && c[b] && collide(p, k.outer[a], *c[a], k.outer[b], *c[b]))
        fail(p, k, w,
             fmt::format("units along {} and {} write the same element", k.outer[a].var.name(), k.outer[b].var.name()));
}

// Without units nothing is written.
bool has_no_units(const Program& p, const Kernel& k) {
  return std::any_of(k.outer.begin(), k.outer.end(),
                     [&](const Axis& a) { return symbolic::always(symbolic::le(a.extent, 0), &p.facts); });
}

}  // namespace

void verify_independence(const Program& p, const Kernel& k) {
  if (has_no_units(p, k)) return;
  const auto writes = writes_of(k);
  for (const Access& w : writes) {
    if (is_indirect(k, w.index)) continue;
    for (const Axis& axis : k.outer)
      if (!symbolic::depends_on(w.index, axis.var) && symbolic::always(symbolic::ge(axis.extent, 2), &p.facts))
        fail(p, k, w, fmt::format("every unit along {} writes the same element", axis.var.name()));
    verify_distinct(p, k, w);
  }
  for (const Access& r : reads_of(k))
    for (const Access& w : writes) {
      if (w.buffer != r.buffer || w.index == r.index) continue;
      if (r.phase == w.phase)
        fail(p, k, r, fmt::format("the phase stores this buffer at [{}]", symbolic::to_string(w.index)));
      if (k.outer.empty()) continue;  // one unit
      if (!stays_in_unit(p, k, r, w) && !is_own_element(p, k, r, w))
        fail(p, k, r, fmt::format("another unit may store it at [{}]", symbolic::to_string(w.index)));
    }
}

void verify_bounds(const Program& p, const Kernel& k) {
  auto accesses = reads_of(k);
  for (const Access& w : writes_of(k)) accesses.push_back(w);
  for (const Access& a : accesses) {
    const Domain domain(p, k, a.phase);
    // No index, no access: the corners of an empty domain are not attained.
    if (std::any_of(domain.axes().begin(), domain.axes().end(),
                    [&](const Axis& axis) { return symbolic::always(symbolic::le(axis.extent, 0), &p.facts); }))
      continue;
    // The corners of a linear address are attained; other bounds may be too wide to prove anything wrong.
    Expr rest = a.index;
    bool linear = !is_indirect(k, a.index);
    for (const Axis& axis : domain.axes()) {
      const auto l = symbolic::linear_in(rest, axis.var);
      if (!l || domain.depends_on_axes(l->coefficient))
        linear = false;
      else
        rest = l->rest;
    }
    if (!linear) continue;
    const Buffer& b = p.buffers[static_cast<std::size_t>(a.buffer)];
    Expr lowest = p.context->constant(0), highest = lowest;
    bool known = true;
    for (std::size_t d = 0; d < b.sizes.size(); ++d) {
      const Expr span = (b.sizes[d] - 1) * b.strides[d];
      if (symbolic::always(symbolic::ge(b.strides[d], 0), &p.facts))
        highest = highest + span;
      else if (symbolic::always(symbolic::le(b.strides[d], 0), &p.facts))
        lowest = lowest + span;
      else
        known = false;
    }
    if (!known) continue;
    const auto lo = domain.lower(a.index), hi = domain.upper(a.index);
    if (lo && symbolic::always(symbolic::lt(*lo, lowest), &domain.facts()))
      fail(p, k, a, fmt::format("goes down to {}, below the buffer", symbolic::to_string(*lo)));
    if (hi && symbolic::always(symbolic::gt(*hi, highest), &domain.facts()))
      fail(
          p, k, a,
          fmt::format("goes up to {}, the last element is {}", symbolic::to_string(*hi), symbolic::to_string(highest)));
  }
}

}  // namespace stax::loop
