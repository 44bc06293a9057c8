#include "loop/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "loop/domain.h"
#include "loop/scalar_eval.h"
#include "loop/transform.h"
#include "loop/verify.h"

namespace stax::loop {
KernelBuilder::KernelBuilder(Program& program, std::string name) : program_(program) { kernel_.name = std::move(name); }

Expr KernelBuilder::outer(Expr extent) {
  const Expr var = program_.fresh_axis(extent, 'i');
  add_outer({var, extent});
  return var;
}

std::vector<Expr> KernelBuilder::outer(const std::vector<Expr>& extents) {
  std::vector<Expr> vars;
  for (Expr e : extents) vars.push_back(outer(e));
  return vars;
}

void KernelBuilder::add_outer(Axis axis) {
  STAX_CHECK(!open_ && kernel_.phases.empty(), kernel_.name + ": outer axes come before the first phase");
  kernel_.outer.push_back(axis);
}

std::vector<Expr> KernelBuilder::phase(const std::vector<Expr>& inner_extents) {
  std::vector<Axis> inner;
  std::vector<Expr> vars;
  for (Expr e : inner_extents) {
    vars.push_back(program_.fresh_axis(e, 'r'));
    inner.push_back({vars.back(), e});
  }
  begin_phase(std::move(inner));
  return vars;
}

void KernelBuilder::phase_with(std::vector<Axis> inner) { begin_phase(std::move(inner)); }

void KernelBuilder::begin_phase(std::vector<Axis> inner) {
  if (open_) end_phase();
  Phase phase;
  phase.inner = std::move(inner);
  phase.begin = phase.end = static_cast<ValueId>(kernel_.values.size());
  kernel_.phases.push_back(std::move(phase));
  open_ = true;
}

// Combine results (and their parts) become values of the unit; other values of an inner phase are out of sight.
void KernelBuilder::end_phase() {
  Phase& phase = kernel_.phases.back();
  phase.end = static_cast<ValueId>(kernel_.values.size());
  const bool is_unit = phase.inner.empty();
  if (is_unit) unit_.merge(phase_);
  phase_.clear();
  for (ValueId v = phase.begin; v < phase.end; ++v) {
    const Value& value = at(v);
    const bool combined =
        value.op == ScalarOp::combine || (value.op == ScalarOp::part && at(value.args[0]).op == ScalarOp::combine);
    visible_[static_cast<std::size_t>(v)] = is_unit || combined;
    if (value.op == ScalarOp::part && combined) unit_.emplace(ValueKey(value), v);
  }
  forget_loads(unit_, phase.stores);
  open_ = false;
}

ValueId KernelBuilder::make(Value v) {
  if (const auto bits = folded(v)) {
    Value c;
    c.dtype = v.dtype;
    c.bits = *bits;
    c.origin = v.origin;
    return emit(c);
  }
  if (const ValueId s = simplified(v); s != kNoValue) return s;
  return emit(std::move(v));
}

// Finds an equal value or appends.
ValueId KernelBuilder::emit(Value v) {
  if (!open_) begin_phase({});
  const ValueKey key(v);
  for (const ValueTable* table : {&phase_, &unit_})
    if (const auto found = table->find(key); found != table->end()) return found->second;
  const auto id = static_cast<ValueId>(kernel_.values.size());
  kernel_.values.push_back(std::move(v));
  visible_.push_back(true);
  phase_.emplace(key, id);
  return id;
}

Value KernelBuilder::operation(ScalarOp op, Dtype dtype, std::array<ValueId, 3> args) const {
  for (ValueId a : args)
    STAX_CHECK(a == kNoValue ||
                   (a >= 0 && a < static_cast<ValueId>(kernel_.values.size()) && visible_[static_cast<std::size_t>(a)]),
               fmt::format("{}: operand %{} of {} is not visible in this phase", kernel_.name, a, info_of(op).name));
  Value v;
  v.op = op;
  v.dtype = dtype;
  v.args = args;
  v.origin = origin_;
  return v;
}

std::optional<std::uint64_t> KernelBuilder::folded(const Value& v) const {
  const int arity = info_of(v.op).arity;
  if (arity == 0 || v.op == ScalarOp::combine || v.op == ScalarOp::scan || v.op == ScalarOp::part ||
      v.op == ScalarOp::bounded)
    return std::nullopt;
  std::array<std::uint64_t, 3> bits{};
  for (int i = 0; i < arity; ++i) {
    const Value& a = at(v.args[static_cast<std::size_t>(i)]);
    if (a.op != ScalarOp::constant) return std::nullopt;
    bits[static_cast<std::size_t>(i)] = a.bits;
  }
  if (v.op == ScalarOp::round_to) {
    float lane = 0, out = 0;
    lane_of_bits(bits[0], Dtype::f32, &lane);
    round_function(v.half)(1, &out, &lane, nullptr, nullptr);
    return bits_of_lane(&out, Dtype::f32);
  }
  const Dtype operand = at(v.args[v.op == ScalarOp::select ? 1 : 0]).dtype;
  return fold(v.op, operand, v.dtype, bits[0], bits[1], bits[2]);
}

// An existing value that equals v bit for bit, else kNoValue.
ValueId KernelBuilder::simplified(const Value& v) const {
  using enum ScalarOp;
  const auto is_constant = [&](ValueId a, std::int64_t c) {
    return at(a).op == constant && !is_floating(at(a).dtype) && at(a).bits == bits_of_int(c, at(a).dtype);
  };
  const auto [a, b, c] = v.args;
  const bool integer = is_integral(v.dtype);
  switch (v.op) {
    case select:
      if (b == c) return b;
      if (at(a).op == constant) return at(a).bits ? b : c;
      break;
    case max:
    case min:
    case bit_and:
    case bit_or:
      if (a == b) return a;
      break;
    case add:
      if (integer && is_constant(b, 0)) return a;
      if (integer && is_constant(a, 0)) return b;
      break;
    case sub:
      if (integer && is_constant(b, 0)) return a;
      break;
    case mul:
      if (integer && is_constant(b, 1)) return a;
      if (integer && is_constant(a, 1)) return b;
      break;
    case floor:
    case ceil:
    case round:
    case trunc:
      if (integer) return a;
      break;
    case bit_not:
      if (at(a).op == bit_not) return at(a).args[0];
      break;
    case round_to:
      if (at(a).op == round_to && at(a).half == v.half) return a;
      break;
    default:
      break;
  }
  return kNoValue;
}

ValueId KernelBuilder::constant(double v, Dtype dtype) {
  Value c = operation(ScalarOp::constant, dtype, {kNoValue, kNoValue, kNoValue});
  STAX_CHECK(!is_half(dtype), kernel_.name + ": a constant has a compute dtype");
  c.bits = bits_of_double(v, dtype);
  return emit(c);
}

ValueId KernelBuilder::constant_int(std::int64_t v, Dtype dtype) {
  Value c = operation(ScalarOp::constant, dtype, {kNoValue, kNoValue, kNoValue});
  STAX_CHECK(!is_half(dtype), kernel_.name + ": a constant has a compute dtype");
  c.bits = bits_of_int(v, dtype);
  return emit(c);
}

ValueId KernelBuilder::index(Expr e) {
  if (const auto c = e.constant()) return constant_int(*c, Dtype::i64);
  Value v = operation(ScalarOp::index, Dtype::i64, {kNoValue, kNoValue, kNoValue});
  v.index = e;
  return emit(v);
}

ValueId KernelBuilder::load(BufferId buffer, Expr address) {
  const Buffer& b = program_.buffers.at(static_cast<std::size_t>(buffer));
  Value v = operation(ScalarOp::load, compute_dtype(b.dtype), {kNoValue, kNoValue, kNoValue});
  v.buffer = buffer;
  v.index = address;
  return emit(v);
}

ValueId KernelBuilder::scalar(int position, Dtype dtype) {
  Value v = operation(ScalarOp::scalar, compute_dtype(dtype), {kNoValue, kNoValue, kNoValue});
  v.scalar = position;
  const ValueId s = emit(v);
  return is_half(dtype) ? round_to(s, dtype) : s;
}

bool KernelBuilder::proves_index(Expr e, Expr bound) const {
  Domain domain(program_.facts);
  for (const Axis& a : kernel_.outer) domain.add(a);
  if (open_)
    for (const Axis& a : kernel_.phases.back().inner) domain.add(a);
  for (std::size_t i = 0; i < kernel_.values.size(); ++i)
    if (visible_[i] && kernel_.values[i].op == ScalarOp::bounded)
      domain.add({kernel_.values[i].symbol, kernel_.values[i].index});
  return domain.is_index_below(e, bound);
}

ValueId KernelBuilder::bounded(ValueId v, Expr bound, bool wraps_negative, bool checked) {
  const Value& operand = at(v);
  if (operand.op == ScalarOp::index || operand.op == ScalarOp::constant || operand.op == ScalarOp::bounded)
    if (proves_index(symbol_of(v), bound)) return v;
  Value b = operation(ScalarOp::bounded, operand.dtype, {v, kNoValue, kNoValue});
  STAX_CHECK(is_integral(b.dtype), kernel_.name + ": an index is an integer");
  b.index = bound;
  b.wraps_negative = wraps_negative;
  b.checked = checked;
  const auto before = kernel_.values.size();
  const ValueId id = emit(b);
  if (kernel_.values.size() > before) kernel_.values.back().symbol = program_.fresh_indirect(bound);
  return id;
}

Expr KernelBuilder::symbol_of(ValueId bounded_value) const {
  const Value& v = at(bounded_value);
  switch (v.op) {
    case ScalarOp::bounded:
      return v.symbol;
    case ScalarOp::index:
      return v.index;
    case ScalarOp::constant:
      return program_.context->constant(static_cast<std::int64_t>(v.bits));
    default:
      break;
  }
  STAX_CHECK(false, fmt::format("{}: %{} is no bounded value", kernel_.name, bounded_value));
  return {};
}

ValueId KernelBuilder::random(int seed_scalar, Expr element, bool normal) {
  Value v = operation(ScalarOp::random, Dtype::f32, {kNoValue, kNoValue, kNoValue});
  v.scalar = seed_scalar;
  v.index = element;
  v.part = normal ? 1 : 0;
  return emit(v);
}

ValueId KernelBuilder::unary(ScalarOp op, ValueId a) {
  const ScalarOpInfo& info = info_of(op);
  const Dtype t = dtype_of(a);
  STAX_CHECK(info.arity == 1 && takes(info.operands, t),
             fmt::format("{}: {} does not take {}", kernel_.name, info.name, to_text(t)));
  return make(operation(op, info.result == ResultRule::boolean ? Dtype::boolean : t, {a, kNoValue, kNoValue}));
}

ValueId KernelBuilder::binary(ScalarOp op, ValueId a, ValueId b) {
  const ScalarOpInfo& info = info_of(op);
  const Dtype t = dtype_of(a);
  STAX_CHECK(info.arity == 2 && takes(info.operands, t) && dtype_of(b) == t,
             fmt::format("{}: {} does not take {} and {}", kernel_.name, info.name, to_text(t), to_text(dtype_of(b))));
  return make(operation(op, info.result == ResultRule::boolean ? Dtype::boolean : t, {a, b, kNoValue}));
}

ValueId KernelBuilder::select(ValueId condition, ValueId a, ValueId b) {
  STAX_CHECK(dtype_of(condition) == Dtype::boolean && dtype_of(a) == dtype_of(b),
             fmt::format("{}: select takes a boolean and two operands of one dtype, not {}, {}, {}", kernel_.name,
                         to_text(dtype_of(condition)), to_text(dtype_of(a)), to_text(dtype_of(b))));
  return make(operation(ScalarOp::select, dtype_of(a), {condition, a, b}));
}

ValueId KernelBuilder::fma(ValueId a, ValueId b, ValueId c) {
  const Dtype t = dtype_of(a);
  STAX_CHECK(is_floating(t) && dtype_of(b) == t && dtype_of(c) == t,
             kernel_.name + ": fma takes three operands of one float dtype");
  return make(operation(ScalarOp::fma, t, {a, b, c}));
}

ValueId KernelBuilder::cast(ValueId a, Dtype dtype) {
  if (is_half(dtype)) return round_to(cast(a, Dtype::f32), dtype);
  if (dtype_of(a) == dtype) return a;
  return make(operation(ScalarOp::cast, dtype, {a, kNoValue, kNoValue}));
}

ValueId KernelBuilder::round_to(ValueId a, Dtype half) {
  STAX_CHECK(is_half(half) && dtype_of(a) == Dtype::f32, kernel_.name + ": round_to takes f32 and a half type");
  Value v = operation(ScalarOp::round_to, Dtype::f32, {a, kNoValue, kNoValue});
  v.half = half;
  return make(v);
}

ValueId KernelBuilder::combine(CombineOp op, std::vector<ValueId> operands, Dtype dtype) {
  STAX_CHECK(!operands.empty() && operands.size() <= 3, kernel_.name + ": a combine takes one to three operands");
  // Over no axes (rank 0) it is a combine over one element.
  if (open_ && kernel_.phases.back().inner.empty()) {
    const Expr one = program_.context->constant(1);
    kernel_.phases.back().inner.push_back({program_.fresh_axis(one, 'r'), one});
  }
  operands.resize(3, kNoValue);
  Value v = operation(ScalarOp::combine, dtype, {operands[0], operands[1], operands[2]});
  v.combine = op;
  return emit(v);
}

ValueId KernelBuilder::scan(CombineOp op, std::vector<ValueId> operands, Dtype dtype, bool reverse) {
  STAX_CHECK(!operands.empty() && operands.size() <= 3, kernel_.name + ": a scan takes one to three operands");
  operands.resize(3, kNoValue);
  Value v = operation(ScalarOp::scan, dtype, {operands[0], operands[1], operands[2]});
  v.combine = op;
  v.reverse = reverse;
  return emit(v);
}

ValueId KernelBuilder::part(ValueId tuple, int which) {
  if (which == 0) return tuple;
  const Value& t = at(tuple);
  STAX_CHECK((t.op == ScalarOp::combine || t.op == ScalarOp::scan) && which < info_of(t.combine).parts,
             fmt::format("{}: %{} has no part {}", kernel_.name, tuple, which));
  Value v = operation(ScalarOp::part, part_dtype(t, which), {tuple, kNoValue, kNoValue});
  v.part = which;
  return emit(v);
}

ValueId KernelBuilder::append(const Value& v) {
  if (v.op == ScalarOp::bounded) {
    if (!open_) begin_phase({});
    kernel_.values.push_back(v);
    visible_.push_back(true);
    return static_cast<ValueId>(kernel_.values.size()) - 1;
  }
  return make(v);
}

void KernelBuilder::store(BufferId buffer, Expr address, ValueId value) {
  const Buffer& b = program_.buffers.at(static_cast<std::size_t>(buffer));
  const ValueId converted = cast(value, compute_dtype(b.dtype));
  if (!open_) begin_phase({});  // the value is of an earlier phase
  kernel_.phases.back().stores.push_back({buffer, address, converted});
}

Kernel KernelBuilder::finish() {
  if (open_) end_phase();
  std::erase_if(kernel_.phases, [](const Phase& p) { return p.begin == p.end && p.stores.empty(); });
  eliminate_dead_values(kernel_);
  return std::move(kernel_);
}

}  // namespace stax::loop
