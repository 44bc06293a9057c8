// Bounds of index expressions over the axes of a domain, as expressions over sizes.
#pragma once
#include "loop/ir.h"

namespace stax::loop {

// Axes (and bounded symbols) with their extents, and what is known about the sizes. Proofs hold for domains that are
// not empty: every extent is assumed to be at least 1.
class Domain {
 public:
  explicit Domain(const symbolic::Facts& facts) : facts_(facts) {}
  // The axes of a kernel that are visible in a phase (-1: the outer axes alone), and its bounded symbols so far.
  Domain(const Program& p, const Kernel& k, int phase);

  void add(const Axis& axis);
  const std::vector<Axis>& axes() const { return axes_; }
  const symbolic::Facts& facts() const { return facts_; }
  bool depends_on_axes(Expr e) const;

  // A bound that holds for all axis values and mentions none of them; nullopt when no monotone argument is found.
  std::optional<Expr> lower(Expr e) const { return bound(e, false, 0); }
  std::optional<Expr> upper(Expr e) const { return bound(e, true, 0); }

  bool is_non_negative(Expr e) const;
  bool is_below(Expr e, Expr limit) const;  // e < limit everywhere
  bool is_index_below(Expr e, Expr limit) const { return is_non_negative(e) && is_below(e, limit); }
  bool is_equal(Expr a, Expr b) const;

 private:
  std::optional<Expr> bound(Expr e, bool upper, int depth) const;
  std::optional<Expr> bound_of_atom(Expr atom, bool upper, int depth) const;

  symbolic::Facts facts_;
  std::vector<Axis> axes_;
};

}  // namespace stax::loop
