#include "loop/address_solve.h"

#include <algorithm>

#include "loop/domain.h"

namespace stax::loop {

namespace {

struct Unknown {
  const Axis* axis;
  Expr stride, value;
};

bool is_axis_of(const std::vector<Axis>& axes, const Axis& a) {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis& x) { return x.var == a.var; });
}

// Distributes the terms of `difference` over the unknowns; true when nothing is left.
bool distribute(Expr difference, std::vector<Unknown>& unknowns, const std::vector<Axis>& load_inner) {
  if (unknowns.size() == 1) {
    if (const Expr q = exact_quotient(difference, unknowns[0].stride)) {
      unknowns[0].value = q;
      return true;
    }
  }
  for (Unknown& u : unknowns) {
    u.value = difference.context().constant(0);
    for (const Axis& q : load_inner) {
      if (!symbolic::depends_on(difference, q.var)) continue;
      const auto linear = symbolic::linear_in(difference, q.var);
      if (!linear || linear->coefficient != u.stride) continue;
      u.value = u.value + q.var;
      difference = linear->rest;
    }
  }
  return difference.is_constant(0);
}

}  // namespace

Expr exact_quotient(Expr a, Expr b) {
  if (b.is_constant(0)) return {};
  if (b.is_constant(1)) return a;
  const Expr q = symbolic::floordiv(a, b);
  return q * b == a ? q : Expr();
}

std::optional<Solution> solve(const Program& program, Expr store, const std::vector<Axis>& inner, Expr load,
                              const std::vector<Axis>& outer, const std::vector<Axis>& load_inner) {
  Solution s;
  std::vector<Unknown> unknowns;
  Expr base = store;
  bool plain = true;
  for (const Axis& r : inner) {
    const auto linear = symbolic::linear_in(base, r.var);
    if (!linear) return std::nullopt;
    plain = plain && is_axis_of(load_inner, r) && !linear->coefficient.is_constant(0);
    unknowns.push_back({&r, linear->coefficient, {}});
    base = linear->rest;
  }
  if (store == load && (plain || inner.empty())) {
    for (const Axis& r : inner) s.values[r.var] = r.var;
    s.same = true;
    return s;
  }
  for (const Unknown& u : unknowns)
    for (const Axis& r : inner)
      if (symbolic::depends_on(u.stride, r.var) || u.stride.is_constant(0)) return std::nullopt;
  if (!distribute(load - base, unknowns, load_inner)) return std::nullopt;

  std::optional<Domain> domain;
  s.same = true;
  for (const Unknown& u : unknowns) {
    const auto whole =
        std::find_if(load_inner.begin(), load_inner.end(), [&](const Axis& q) { return q.var == u.value; });
    if (whole == load_inner.end() || whole->extent != u.axis->extent) {
      if (!domain) {
        domain.emplace(program.facts);
        for (const auto* axes : {&outer, &load_inner})
          for (const Axis& a : *axes) domain->add(a);
      }
      if (!domain->is_index_below(u.value, u.axis->extent)) return std::nullopt;
    }
    s.values[u.axis->var] = u.value;
    s.same = s.same && u.value == u.axis->var;
  }
  return s;
}

}  // namespace stax::loop
