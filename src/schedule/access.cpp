#include "schedule/access.h"

#include <algorithm>

namespace stax::schedule {

using loop::Expr;
using loop::ScalarOp;

Stride stride_along(Expr address, Expr axis) {
  if (!symbolic::depends_on(address, axis)) return Stride::none;
  const auto linear = symbolic::linear_in(address, axis);
  if (!linear) return Stride::other;
  if (linear->coefficient.is_constant(0)) return Stride::none;
  return linear->coefficient.is_constant(1) ? Stride::unit : Stride::other;
}

std::int64_t hint_or(Expr e, std::int64_t otherwise) {
  if (const auto c = e.constant()) return *c;
  return symbolic::hint_of(e).value_or(otherwise);
}

std::int64_t hint_of(const std::vector<loop::Axis>& axes, std::int64_t otherwise) {
  std::int64_t n = 1;
  for (const loop::Axis& a : axes) n *= std::max<std::int64_t>(hint_or(a.extent, otherwise), 1);
  return n;
}

symbolic::Bool gains_from_wide_accesses(const loop::Program& p, std::span<const loop::BufferId> buffers) {
  constexpr std::int64_t kFewElements = 4096;
  symbolic::Bool gains = p.context->boolean(false);
  for (const loop::BufferId b : buffers) {
    Expr count = p.context->constant(1);
    for (const Expr size : p.buffers[static_cast<std::size_t>(b)].sizes) count = count * size;
    gains = gains || symbolic::ge(count, kFewElements);
  }
  return gains;
}

std::int64_t cost_of(const loop::Kernel& k, const loop::Phase& p) {
  std::int64_t cost = static_cast<std::int64_t>(p.stores.size());
  for (loop::ValueId v = p.begin; v < p.end; ++v) {
    const loop::Value& value = k.values[static_cast<std::size_t>(v)];
    const bool wide = byte_size(value.dtype) == 8;
    switch (value.op) {
      case ScalarOp::constant:
      case ScalarOp::part:
      case ScalarOp::scalar:
        break;
      case ScalarOp::exp:
      case ScalarOp::exp2:
      case ScalarOp::expm1:
      case ScalarOp::log:
      case ScalarOp::log2:
      case ScalarOp::log1p:
      case ScalarOp::tanh:
      case ScalarOp::erf:
      case ScalarOp::sigmoid:
      case ScalarOp::sin:
      case ScalarOp::cos:
      case ScalarOp::pow:
        cost += wide ? 200 : 16;
        break;
      case ScalarOp::random:
        cost += 60;
        break;
      case ScalarOp::bounded:
        cost += 8;
        break;
      case ScalarOp::div:
      case ScalarOp::floor_div:
      case ScalarOp::trunc_div:
      case ScalarOp::floor_mod:
      case ScalarOp::trunc_mod:
      case ScalarOp::sqrt:
      case ScalarOp::rsqrt:
        cost += 8;
        break;
      default:
        cost += wide ? 2 : 1;
    }
  }
  return std::max<std::int64_t>(cost, 1);
}

std::int64_t cost_of(const loop::Kernel& k) {
  std::int64_t cost = 1;
  for (const loop::Phase& p : k.phases) cost = std::max(cost, cost_of(k, p));
  return cost;
}

}  // namespace stax::schedule
