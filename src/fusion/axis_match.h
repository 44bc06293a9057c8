// Which axes of two kernels run over the same thing, found from addresses of buffers that both touch.
//
// Two addresses that are linear in their axes are compared term by term: axes with the same stride and the same extent
// are the same; where one extent is a multiple of the other, the longer axis is split: B*S merged against (B, S).
#pragma once
#include <vector>

#include "loop/address_solve.h"

namespace stax::fusion {

class AxisMatch {
 public:
  struct Side {
    struct Entry {
      loop::Axis axis;
      loop::Expr origin;  // the axis of the kernel that this is, or is a part of
      bool outer = false;
      bool rigid = false;  // may not be split: the axis of a scan
      int partner = -1;    // entry of the other side
    };
    std::vector<Entry> entries;  // outer axes first, then the inner ones of each phase, each once
    symbolic::SymbolMap splits;  // a split axis → its two halves, already fully substituted
  };

  AxisMatch(loop::Program& program, const loop::Kernel& a, const loop::Kernel& b);

  // Pairs the axes of the two addresses. False, and nothing changes, when that contradicts earlier pairs or no axis
  // could be paired although both addresses have some.
  bool match(loop::Expr address_a, loop::Expr address_b);
  // Pairs two whole axes of equal extents by position in `entries`; false when either has a partner.
  bool pair(std::size_t entry_a, std::size_t entry_b);

  const Side& a() const { return a_; }
  const Side& b() const { return b_; }

 private:
  struct Term {
    std::size_t entry;
    loop::Expr stride;
  };
  static Side side_of(const loop::Kernel& k);
  static std::optional<std::vector<Term>> terms(const Side& side, loop::Expr address);
  // Splits entry into (quotient, part); returns the position of the outer half, the inner half follows it.
  std::size_t split(Side& side, Side& other, std::size_t entry, loop::Expr part, loop::Expr quotient);
  static bool all_paired_since(const Side& now, const Side& before);
  bool match_terms(std::vector<Term> ta, std::vector<Term> tb, bool may_split);

  loop::Program& program_;
  Side a_, b_;
};

using loop::exact_quotient;

}  // namespace stax::fusion
