#include "codegen/common/same_value.h"

#include <algorithm>

namespace stax::codegen {

using loop::CombineOp;
using loop::Expr;
using loop::Kernel;
using loop::kNoValue;
using loop::Phase;
using loop::ScalarOp;
using loop::Value;
using loop::ValueId;

namespace {

class Matcher {
 public:
  Matcher(const Kernel& k, ValueId later, ValueId earlier) : k_(k), later_(phase(later)), earlier_(phase(earlier)) {}

  bool is_possible() const {
    return &later_ != &earlier_ && later_.begin >= earlier_.end && later_.inner.size() == 1 &&
           earlier_.inner.size() == 1 && later_.inner[0].extent == earlier_.inner[0].extent;
  }

  bool same(ValueId a, ValueId b) const {  // a of the later phase
    if (a == kNoValue || b == kNoValue) return a == b;
    if (a < later_.begin || b < earlier_.begin) return a == b;  // values of the unit
    const Value& x = k_.values[static_cast<std::size_t>(a)];
    const Value& y = k_.values[static_cast<std::size_t>(b)];
    if (x.op != y.op || x.dtype != y.dtype || x.bits != y.bits || x.buffer != y.buffer || x.scalar != y.scalar ||
        x.part != y.part || x.half != y.half || x.wraps_negative != y.wraps_negative || x.checked != y.checked)
      return false;
    if (x.op == ScalarOp::combine || x.op == ScalarOp::scan || x.op == ScalarOp::bounded || x.op == ScalarOp::part)
      return false;
    if (x.op == ScalarOp::load && is_stored(x.buffer)) return false;
    if (!same_index(x.index, y.index)) return false;
    return same(x.args[0], y.args[0]) && same(x.args[1], y.args[1]) && same(x.args[2], y.args[2]);
  }

 private:
  const Phase& phase(ValueId v) const { return k_.phases[static_cast<std::size_t>(loop::phase_of(k_, v))]; }
  bool is_stored(loop::BufferId b) const {
    return std::any_of(k_.phases.begin(), k_.phases.end(), [&](const Phase& p) {
      return std::any_of(p.stores.begin(), p.stores.end(), [&](const loop::Store& s) { return s.buffer == b; });
    });
  }
  bool same_index(Expr a, Expr b) const {
    if (!a || !b) return !a && !b;
    return symbolic::substitute(a, {{later_.inner[0].var, earlier_.inner[0].var}}) == b;
  }

  const Kernel& k_;
  const Phase& later_;
  const Phase& earlier_;
};

}  // namespace

bool same_value(const Kernel& k, ValueId later, ValueId earlier) {
  const Matcher m(k, later, earlier);
  return m.is_possible() && m.same(later, earlier);
}

bool is_softmax_weight(const Kernel& k, ValueId later, ValueId combine) {
  const Value& c = k.values[static_cast<std::size_t>(combine)];
  if (c.op != ScalarOp::combine || c.combine != CombineOp::online_softmax || c.args[1] != kNoValue) return false;
  const Value& e = k.values[static_cast<std::size_t>(later)];
  if (e.op != ScalarOp::exp) return false;
  const Value& difference = k.values[static_cast<std::size_t>(e.args[0])];
  if (difference.op != ScalarOp::sub) return false;
  const Value& m = k.values[static_cast<std::size_t>(difference.args[1])];
  const bool is_maximum =
      difference.args[1] == combine || (m.op == ScalarOp::part && m.part == 0 && m.args[0] == combine);
  const Matcher matcher(k, later, combine);
  return is_maximum && matcher.is_possible() && matcher.same(difference.args[0], c.args[0]);
}

bool is_below_maximum(const Kernel& k, ValueId v) {
  const Value& difference = k.values[static_cast<std::size_t>(v)];
  if (difference.op != ScalarOp::sub) return false;
  const Value& m = k.values[static_cast<std::size_t>(difference.args[1])];
  return m.op == ScalarOp::combine && m.combine == CombineOp::max && m.dtype == difference.dtype &&
         same_value(k, difference.args[0], m.args[0]);
}

std::vector<ValueId> readers_of_kept(const Kernel& k, ValueId kept) {
  std::vector<ValueId> readers;
  const bool weights = k.values[static_cast<std::size_t>(kept)].op == ScalarOp::combine;
  const Phase& own = k.phases[static_cast<std::size_t>(loop::phase_of(k, kept))];
  for (ValueId v = own.end; v < static_cast<ValueId>(k.values.size()); ++v)
    if (weights ? is_softmax_weight(k, v, kept) : same_value(k, v, kept)) readers.push_back(v);
  return readers;
}

}  // namespace stax::codegen
