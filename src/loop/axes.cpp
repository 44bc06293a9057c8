// Axes of a kernel: merging neighbours, order by stride.
#include <algorithm>

#include "loop/domain.h"
#include "loop/transform.h"

namespace stax::loop {
namespace {

// Every index expression that may mention the axes: those of one phase, or of the kernel (-1).
std::vector<Expr*> indices_of(Kernel& k, int phase) {
  std::vector<Expr*> result;
  for (std::size_t i = 0; i < k.phases.size(); ++i) {
    if (phase >= 0 && i != static_cast<std::size_t>(phase)) continue;
    for (ValueId v = k.phases[i].begin; v < k.phases[i].end; ++v)
      if (Expr& e = k.values[static_cast<std::size_t>(v)].index; e) result.push_back(&e);
    for (Store& s : k.phases[i].stores) result.push_back(&s.index);
  }
  return result;
}

// e is linear in both axes with coefficient(a) = extent(b)·coefficient(b).
bool is_mergeable(Expr e, const Axis& a, const Axis& b, const symbolic::Facts& facts) {
  if (!symbolic::depends_on(e, a.var) && !symbolic::depends_on(e, b.var)) return true;
  const auto la = symbolic::linear_in(e, a.var);
  const auto lb = la ? symbolic::linear_in(la->rest, b.var) : std::nullopt;
  if (!lb || symbolic::depends_on(la->coefficient, b.var)) return false;
  const Expr wanted = b.extent * lb->coefficient;
  return la->coefficient == wanted || symbolic::always(symbolic::eq(la->coefficient, wanted), &facts);
}

void replace(const std::vector<Expr*>& indices, const symbolic::SymbolMap& map) {
  for (Expr* e : indices) *e = symbolic::substitute(*e, map);
}

bool is_one(Expr extent, const symbolic::Facts& facts) {
  return extent.is_constant(1) || symbolic::always(symbolic::eq(extent, 1), &facts);
}

// `keep_one`: a reduction needs an axis, however short.
void merge_list(Program& p, std::vector<Axis>& axes, const std::vector<Expr*>& indices, char letter, bool keep_one) {
  const Expr zero = p.context->constant(0);
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (!is_one(axes[i].extent, p.facts) || (keep_one && axes.size() == 1)) continue;
    replace(indices, {{axes[i].var, zero}});
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = axes.size(); i-- > 1;) {
    const Axis a = axes[i - 1], b = axes[i];
    if (!std::all_of(indices.begin(), indices.end(), [&](Expr* e) { return is_mergeable(*e, a, b, p.facts); }))
      continue;
    const Expr extent = a.extent * b.extent, merged = p.fresh_axis(extent, letter);
    replace(indices, {{a.var, zero}, {b.var, merged}});
    axes[i - 1] = {merged, extent};
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

bool reduces(const Kernel& k, const Phase& p) {
  for (ValueId v = p.begin; v < p.end; ++v) {
    const ScalarOp op = k.values[static_cast<std::size_t>(v)].op;
    if (op == ScalarOp::combine || op == ScalarOp::scan) return true;
  }
  return false;
}

Expr magnitude(Expr e, const symbolic::Facts& facts) { return symbolic::always(symbolic::le(e, 0), &facts) ? -e : e; }

// Whether stride a is larger than stride b: proven, else by the hints. Stride 0 counts as the largest: an axis that
// moves nothing belongs outside.
bool is_larger(Expr a, Expr b, const symbolic::Facts& facts) {
  if (a.is_constant(0) || b.is_constant(0)) return a.is_constant(0) && !b.is_constant(0);
  const symbolic::Truth t = symbolic::prove(symbolic::gt(a, b), &facts);
  if (t != symbolic::Truth::unknown) return t == symbolic::Truth::always;
  const auto ha = symbolic::hint_of(a), hb = symbolic::hint_of(b);
  return ha && hb && *ha > *hb;
}

// Coefficients of the outer axes in an address, if it is linear in all of them and moves with at least one.
std::optional<std::vector<Expr>> strides_in(Expr address, const Kernel& k, const symbolic::Facts& facts) {
  std::vector<Expr> strides;
  bool moves = false;
  for (const Axis& a : k.outer) {
    const auto l = symbolic::linear_in(address, a.var);
    if (!l) return std::nullopt;
    moves = moves || !l->coefficient.is_constant(0);
    strides.push_back(magnitude(l->coefficient, facts));
  }
  return moves ? std::optional(strides) : std::nullopt;
}

}  // namespace

void merge_axes(Program& p, Kernel& k) {
  for (std::size_t i = 0; i < k.phases.size(); ++i) {
    Phase& phase = k.phases[i];
    merge_list(p, phase.inner, indices_of(k, static_cast<int>(i)), 'r', reduces(k, phase));
  }
  merge_list(p, k.outer, indices_of(k, -1), 'i', false);
}

bool reorder_outer_axes(const Program& p, Kernel& k) {
  std::vector<Access> accesses = writes_of(k);
  for (const Access& r : reads_of(k)) accesses.push_back(r);
  std::optional<std::vector<Expr>> strides;
  for (const Access& a : accesses)
    if ((strides = strides_in(a.index, k, p.facts))) break;
  if (!strides) return false;
  bool changed = false;
  for (std::size_t i = 1; i < k.outer.size(); ++i)
    for (std::size_t j = i; j > 0 && is_larger((*strides)[j], (*strides)[j - 1], p.facts); --j) {
      std::swap(k.outer[j], k.outer[j - 1]);
      std::swap((*strides)[j], (*strides)[j - 1]);
      changed = true;
    }
  return changed;
}

}  // namespace stax::loop
