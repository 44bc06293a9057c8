#include "loop/domain.h"

#include <algorithm>

namespace stax::loop {

using symbolic::always;
using symbolic::Op;

namespace {
constexpr int kMaxDepth = 8;
}

Domain::Domain(const Program& p, const Kernel& k, int phase) : facts_(p.facts) {
  for (const Axis& a : k.outer) add(a);
  const std::size_t last = phase < 0 ? 0 : static_cast<std::size_t>(phase) + 1;
  for (std::size_t i = 0; i < last && i < k.phases.size(); ++i) {
    const bool here = i + 1 == last;
    if (here)
      for (const Axis& a : k.phases[i].inner) add(a);
    if (!here && !k.phases[i].inner.empty()) continue;
    for (ValueId v = k.phases[i].begin; v < k.phases[i].end; ++v) {
      const Value& value = k.values[static_cast<std::size_t>(v)];
      if (value.op == ScalarOp::bounded) add({value.symbol, value.index});
    }
  }
}

void Domain::add(const Axis& axis) {
  axes_.push_back(axis);
  if (!axis.extent.constant()) facts_.assume(symbolic::ge(axis.extent, 1));
}

bool Domain::depends_on_axes(Expr e) const {
  return std::any_of(axes_.begin(), axes_.end(), [&](const Axis& a) { return symbolic::depends_on(e, a.var); });
}

bool Domain::is_non_negative(Expr e) const {
  if (always(symbolic::ge(e, 0), &facts_)) return true;
  const auto b = lower(e);
  return b && always(symbolic::ge(*b, 0), &facts_);
}

bool Domain::is_below(Expr e, Expr limit) const {
  if (always(symbolic::lt(e, limit), &facts_)) return true;
  const auto b = upper(e - limit);
  return b && always(symbolic::lt(*b, 0), &facts_);
}

bool Domain::is_equal(Expr a, Expr b) const { return a == b || always(symbolic::eq(a, b), &facts_); }

std::optional<Expr> Domain::bound(Expr e, bool upper, int depth) const {
  if (depth > kMaxDepth) return std::nullopt;
  // Axes in which e is linear, innermost first: at the end of the axis that the sign of the coefficient picks.
  for (auto a = axes_.rbegin(); a != axes_.rend(); ++a) {
    if (!symbolic::depends_on(e, a->var)) continue;
    const auto linear = symbolic::linear_in(e, a->var);
    if (!linear) continue;
    if (is_non_negative(linear->coefficient)) {
      e = upper ? linear->rest + linear->coefficient * (a->extent - 1) : linear->rest;
    } else if (is_non_negative(-linear->coefficient)) {
      e = upper ? linear->rest : linear->rest + linear->coefficient * (a->extent - 1);
    } else {
      return std::nullopt;
    }
  }
  if (!depends_on_axes(e)) return e;
  // What is left is in divisions, minima and maxima: bound term by term.
  const auto terms = symbolic::terms_of(e);
  if (terms.size() == 1) return bound_of_atom(e, upper, depth + 1);
  Expr sum = e.context().constant(0);
  for (Expr t : terms) {
    const auto b = depends_on_axes(t) ? bound(t, upper, depth + 1) : t;
    if (!b) return std::nullopt;
    sum = sum + *b;
  }
  return sum;
}

// `atom` is one term: a product with exactly one factor that depends on axes, or that factor itself.
std::optional<Expr> Domain::bound_of_atom(Expr atom, bool upper, int depth) const {
  switch (atom.op()) {
    case Op::mul: {
      Expr scale = atom.context().constant(1), varying;
      for (std::size_t i = 0; i < atom.operands().size(); ++i) {
        const Expr f = atom.operand(i);
        if (!depends_on_axes(f))
          scale = scale * f;
        else if (varying)
          return std::nullopt;
        else
          varying = f;
      }
      if (!varying) return atom;
      const bool positive = always(symbolic::ge(scale, 0), &facts_);
      if (!positive && !always(symbolic::le(scale, 0), &facts_)) return std::nullopt;
      const auto b = bound(varying, positive == upper, depth);
      if (!b) return std::nullopt;
      return scale * *b;
    }
    case Op::floordiv:
    case Op::ceildiv: {
      const Expr n = atom.operand(0), d = atom.operand(1);
      if (depends_on_axes(d) || !always(symbolic::ge(d, 1), &facts_)) return std::nullopt;
      const auto b = bound(n, upper, depth);
      if (!b) return std::nullopt;
      return atom.op() == Op::floordiv ? symbolic::floordiv(*b, d) : symbolic::ceildiv(*b, d);
    }
    case Op::floormod: {
      const Expr d = atom.operand(1);
      if (depends_on_axes(d) || !always(symbolic::ge(d, 1), &facts_)) return std::nullopt;
      return upper ? d - 1 : atom.context().constant(0);
    }
    case Op::min:
    case Op::max: {
      const auto a = bound(atom.operand(0), upper, depth), b = bound(atom.operand(1), upper, depth);
      if (!a || !b) return std::nullopt;
      return atom.op() == Op::min ? symbolic::min(*a, *b) : symbolic::max(*a, *b);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace stax::loop
