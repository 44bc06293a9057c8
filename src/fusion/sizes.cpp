#include "fusion/sizes.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace stax::fusion {

using loop::Axis;
using loop::BufferId;
using loop::Expr;
using loop::Kernel;
using loop::Phase;
using loop::ScalarOp;
using loop::Value;
using loop::ValueId;

Sizes::Sizes(const loop::Program& program) : program_(program) {
  for (Expr s : program.sizes) is_size_.emplace(s, true);
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  return __builtin_mul_overflow(a, b, &r) ? std::numeric_limits<std::int64_t>::max() : r;
}

std::int64_t Sizes::at_hint(Expr e) const {
  if (const auto c = e.constant()) return std::max<std::int64_t>(*c, 0);
  if (const auto found = known_.find(e); found != known_.end()) return found->second;
  const auto value = symbolic::evaluate(e, [&](Expr s) -> std::optional<std::int64_t> {
    if (!is_size_.contains(s)) return 0;
    return s.info().hint ? *s.info().hint : std::max(s.info().range.lo, std::min(kUnknownSize, s.info().range.hi));
  });
  return known_[e] = std::max<std::int64_t>(value.value_or(kUnknownSize), 0);
}

std::int64_t Sizes::product(const std::vector<Axis>& axes) const {
  std::int64_t n = 1;
  for (const Axis& a : axes) n = times(n, at_hint(a.extent));
  return n;
}

std::int64_t Sizes::at_most(const std::vector<Axis>& axes) const {
  std::int64_t n = 1;
  for (const Axis& a : axes) n = times(n, std::max<std::int64_t>(symbolic::range_of(a.extent, &program_.facts).hi, 0));
  return n;
}

std::int64_t Sizes::elements(BufferId buffer) const {
  const loop::Buffer& b = program_.buffers[static_cast<std::size_t>(buffer)];
  std::int64_t n = 1;
  for (std::size_t d = 0; d < b.sizes.size(); ++d)
    if (d >= b.strides.size() || !b.strides[d].is_constant(0)) n = times(n, at_hint(b.sizes[d]));
  return n;
}

std::int64_t Sizes::bytes(BufferId buffer) const {
  return times(elements(buffer), byte_size(program_.buffers[static_cast<std::size_t>(buffer)].dtype));
}

bool mentions(Expr e, const std::vector<Axis>& axes) {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis& a) { return symbolic::depends_on(e, a.var); });
}

bool is_leaf(ScalarOp op) { return op == ScalarOp::constant || op == ScalarOp::index || op == ScalarOp::scalar; }

bool is_expensive(const Value& v) {
  using enum ScalarOp;
  switch (v.op) {
    case random:
    case div:
    case floor_div:
    case trunc_div:
    case floor_mod:
    case trunc_mod:
    case pow:
    case exp:
    case exp2:
    case expm1:
    case log:
    case log2:
    case log1p:
    case sqrt:
    case rsqrt:
    case tanh:
    case erf:
    case sigmoid:
    case sin:
    case cos:
      return true;
    default:
      return false;
  }
}

Work work_of(const Kernel& k) {
  Work w;
  for (const Value& v : k.values) {
    if (is_leaf(v.op) || v.op == ScalarOp::part || v.op == ScalarOp::cast) continue;
    if (v.op == ScalarOp::load)
      ++w.loads;
    else
      ++w.operations;
    if (is_expensive(v)) ++w.expensive;
  }
  return w;
}

int most_loads_of_a_phase(const Kernel& k) {
  int most = 0;
  for (const Phase& p : k.phases) {
    int loads = 0;
    for (ValueId v = p.begin; v < p.end; ++v) loads += k.values[static_cast<std::size_t>(v)].op == ScalarOp::load;
    most = std::max(most, loads);
  }
  return most;
}

std::int64_t footprint(const Sizes& sizes, const Kernel& k, int phase, Expr address) {
  const Phase& p = k.phases[static_cast<std::size_t>(phase)];
  std::int64_t n = 1;
  const std::vector<Expr> symbols = symbolic::symbols_of(address);
  for (const auto* axes : {&k.outer, &p.inner})
    for (const Axis& a : *axes)
      if (std::find(symbols.begin(), symbols.end(), a.var) != symbols.end()) n = times(n, sizes.at_hint(a.extent));
  for (const Value& v : k.values)  // a gathered index visits at most the whole domain
    if (v.op == ScalarOp::bounded && std::find(symbols.begin(), symbols.end(), v.symbol) != symbols.end())
      return times(sizes.product(k.outer), sizes.product(p.inner));
  return n;
}

std::int64_t Traffic::total() const {
  std::int64_t n = 0;
  for (const auto* side : {&read, &written})
    for (const auto& [buffer, bytes] : *side) n += std::min(bytes, std::numeric_limits<std::int64_t>::max() - n);
  return n;
}

Traffic traffic_of(const loop::Program& program, const Sizes& sizes, const loop::Item& item, std::int64_t cache_bytes) {
  Traffic t;
  const auto* k = std::get_if<Kernel>(&item);
  if (!k) {
    for (BufferId b : loop::buffers_read(item)) t.read[b] = sizes.bytes(b);
    for (BufferId b : loop::buffers_written(item)) t.written[b] = sizes.bytes(b);
    return t;
  }
  const bool keeps = unit_bytes(program, sizes, *k) <= cache_bytes;
  // By buffer and phase (by buffer alone when units are kept), bounded by the size of the buffer.
  const auto add = [&](std::map<BufferId, std::int64_t>& side, const std::vector<loop::Access>& accesses) {
    std::set<std::tuple<BufferId, int, const symbolic::Node*>> seen;
    std::map<std::pair<BufferId, int>, std::int64_t> by_phase;
    for (const loop::Access& a : accesses) {
      const int phase = keeps ? 0 : a.phase;
      if (!seen.emplace(a.buffer, phase, a.index.node()).second) continue;
      auto& sum = by_phase[{a.buffer, phase}];
      const std::int64_t most = sizes.bytes(a.buffer);
      sum = std::min(
          most, sum + std::min(most, times(footprint(sizes, *k, a.phase, a.index), element_bytes(program, a.buffer))));
    }
    for (const auto& [key, bytes] : by_phase) side[key.first] += bytes;
  };
  add(t.read, loop::reads_of(*k));
  add(t.written, loop::writes_of(*k));
  return t;
}

std::int64_t unit_bytes(const loop::Program& program, const Sizes& sizes, const Kernel& k) {
  std::set<std::pair<BufferId, const symbolic::Node*>> seen;
  std::int64_t total = 0;
  for (const loop::Access& a : loop::reads_of(k)) {
    const auto& inner = k.phases[static_cast<std::size_t>(a.phase)].inner;
    std::int64_t n = 1;
    bool varies = false;
    for (const Axis& r : inner)
      if (symbolic::depends_on(a.index, r.var)) {
        n = times(n, sizes.at_hint(r.extent));
        varies = true;
      }
    if (!varies || !seen.emplace(a.buffer, a.index.node()).second) continue;
    const bool by_lines = contiguous_axis(k.outer, a.index) && !contiguous_axis(inner, a.index);
    const std::int64_t bytes = times(n, by_lines ? kCacheLine : element_bytes(program, a.buffer));
    total = total > INT64_MAX - bytes ? INT64_MAX : total + bytes;
  }
  return total;
}

const Axis* contiguous_axis(const std::vector<Axis>& axes, Expr address) {
  for (const Axis& a : axes) {
    if (!symbolic::depends_on(address, a.var)) continue;
    const auto linear = symbolic::linear_in(address, a.var);
    if (linear && linear->coefficient.is_constant(1)) return &a;
  }
  return nullptr;
}

std::int64_t element_bytes(const loop::Program& program, BufferId buffer) {
  return byte_size(program.buffers[static_cast<std::size_t>(buffer)].dtype);
}

}  // namespace stax::fusion
