#include "loop/count.h"

#include <algorithm>

namespace stax::loop {
namespace {

double value_at_hints(Expr e, std::int64_t unknown) {
  const auto v = symbolic::evaluate(e, [&](Expr s) { return std::optional(s.info().hint.value_or(unknown)); });
  return static_cast<double>(v.value_or(unknown));
}

double product_at_hints(const std::vector<Axis>& axes, std::int64_t unknown) {
  double n = 1;
  for (const Axis& a : axes) n *= value_at_hints(a.extent, unknown);
  return n;
}

bool is_operation(ScalarOp op) {
  switch (op) {
    case ScalarOp::constant:
    case ScalarOp::index:
    case ScalarOp::load:
    case ScalarOp::scalar:
    case ScalarOp::part:
      return false;
    default:
      return true;
  }
}

class Counter {
 public:
  Counter(const Program& p, const Kernel& k, std::int64_t unknown) : p_(p), k_(k), unknown_(unknown) {}

  // Bytes of the distinct elements that an address touches, at most the buffer.
  double bytes(BufferId buffer, Expr index, const Phase& phase) const {
    double touched = 1, elements = 1;
    for (const auto* axes : {&k_.outer, &phase.inner})
      for (const Axis& a : *axes)
        if (moves_with(index, a.var)) touched *= value_at_hints(a.extent, unknown_);
    const Buffer& b = p_.buffers[static_cast<std::size_t>(buffer)];
    for (Expr s : b.sizes) elements *= value_at_hints(s, unknown_);
    return std::min(touched, elements) * byte_size(b.dtype);
  }

 private:
  // An indirect index moves with every axis.
  bool moves_with(Expr index, Expr axis) const {
    return symbolic::depends_on(index, axis) || std::any_of(k_.values.begin(), k_.values.end(), [&](const Value& v) {
             return v.op == ScalarOp::bounded && symbolic::depends_on(index, v.symbol);
           });
  }
  const Program& p_;
  const Kernel& k_;
  std::int64_t unknown_;
};

}  // namespace

KernelCount count(const Program& p, const Kernel& k, std::int64_t unknown) {
  KernelCount result;
  result.units = product_at_hints(k.outer, unknown);
  const Counter counter(p, k, unknown);
  std::vector<std::pair<BufferId, Expr>> loads;
  for (const Phase& phase : k.phases) {
    const double inner = product_at_hints(phase.inner, unknown);
    result.largest_inner = std::max(result.largest_inner, inner);
    // Phases name their axes differently: compare addresses with the axes renamed by position.
    symbolic::SymbolMap renamed;

    for (std::size_t d = 0; d < phase.inner.size(); ++d)
      for (const Phase& other : k.phases) {
        if (d >= other.inner.size() || other.inner.size() != phase.inner.size()) continue;
        if (other.inner[d].extent == phase.inner[d].extent) renamed[phase.inner[d].var] = other.inner[d].var;
        break;
      }
    for (ValueId v = phase.begin; v < phase.end; ++v) {
      const Value& value = k.values[static_cast<std::size_t>(v)];
      if (is_operation(value.op)) result.operations += result.units * inner;
      if (value.op != ScalarOp::load) continue;
      const std::pair key(value.buffer, renamed.empty() ? value.index : symbolic::substitute(value.index, renamed));
      if (std::find(loads.begin(), loads.end(), key) != loads.end()) continue;
      loads.push_back(key);
      result.bytes_read += counter.bytes(value.buffer, value.index, phase);
    }
    for (const Store& s : phase.stores) result.bytes_written += counter.bytes(s.buffer, s.index, phase);
  }
  return result;
}

}  // namespace stax::loop
