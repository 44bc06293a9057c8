#include "loop/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace stax::loop {
namespace {

using Symbols = std::unordered_set<Expr>;

[[noreturn]] void fail(const std::string& where, const std::string& problem) {
  throw InternalError(fmt::format("loop IR: {}: {}", where, problem));
}

void check_symbols(const std::string& where, std::string_view what, Expr e, const Symbols& allowed) {
  if (!e) fail(where, fmt::format("{} is missing", what));
  for (Expr s : symbolic::symbols_of(e))
    if (!allowed.contains(s))
      fail(where, fmt::format("{} {} mentions {}, which is not visible here", what, symbolic::to_string(e), s.name()));
}

class KernelVerifier {
 public:
  KernelVerifier(const Program& p, const Kernel& k) : p_(p), k_(k), unit_(p.sizes.begin(), p.sizes.end()) {}
  void run();

 private:
  std::string at(ValueId v) const { return fmt::format("kernel {}, %{}", k_.name, v); }
  std::string here() const { return fmt::format("kernel {}, phase {}", k_.name, phase_); }
  const Value& value(ValueId v) const { return k_.values[static_cast<std::size_t>(v)]; }
  void axes(const std::vector<Axis>& axes, Symbols& visible);
  void phase(const Phase& phase);
  void operands(ValueId id, const Value& v);
  void table(ValueId id, const Value& v);
  void payload(ValueId id, const Value& v, Symbols& visible);
  void tuple(ValueId id, const Value& v);
  void store(const Store& s, const Symbols& visible);
  // A combine of this phase, or a part of one: complete when the phase is over.
  bool is_incomplete(ValueId v) const {
    return is_combined(k_, v) && phase_of(k_, value(v).op == ScalarOp::part ? value(v).args[0] : v) == phase_;
  }
  bool buffer_exists(BufferId b) const { return b >= 0 && b < static_cast<int>(p_.buffers.size()); }

  const Program& p_;
  const Kernel& k_;
  Symbols unit_;                  // sizes, outer axes, bounded values of the unit
  Symbols all_axes_;              // of this kernel so far
  std::vector<bool> is_visible_;  // by value, for operands
  int phase_ = 0;
};

void KernelVerifier::run() {
  axes(k_.outer, unit_);
  is_visible_.assign(k_.values.size(), false);
  ValueId next = 0;
  for (const Phase& p : k_.phases) {
    if (p.begin != next || p.end < p.begin || p.end > static_cast<ValueId>(k_.values.size()))
      fail(here(), fmt::format("values [{}, {}) do not follow the phase before", p.begin, p.end));
    next = p.end;
    phase(p);
    ++phase_;
  }
  if (next != static_cast<ValueId>(k_.values.size())) fail("kernel " + k_.name, "values after the last phase");
  verify_independence(p_, k_);
  verify_bounds(p_, k_);
}

void KernelVerifier::axes(const std::vector<Axis>& axes, Symbols& visible) {
  const Symbols sizes(p_.sizes.begin(), p_.sizes.end());
  for (const Axis& a : axes) {
    if (!a.var || !a.var.is_symbol()) fail("kernel " + k_.name, "an axis is not a symbol");
    check_symbols("kernel " + k_.name, "the extent of " + a.var.name() + ":", a.extent, sizes);
    if (sizes.contains(a.var) || !all_axes_.insert(a.var).second)
      fail("kernel " + k_.name, fmt::format("axis {} is not unique", a.var.name()));
    visible.insert(a.var);
  }
}

void KernelVerifier::phase(const Phase& phase) {
  Symbols visible = unit_;
  axes(phase.inner, visible);
  std::optional<bool> direction;  // of the scans
  for (ValueId id = phase.begin; id < phase.end; ++id) {
    const Value& v = value(id);
    operands(id, v);
    table(id, v);
    payload(id, v, visible);
    if (v.op == ScalarOp::combine && phase.inner.empty()) fail(at(id), "a combine needs inner axes");
    if (v.op == ScalarOp::scan) {
      if (phase.inner.size() != 1) fail(at(id), "a scan needs exactly one inner axis");
      if (direction && *direction != v.reverse) fail(at(id), "the scans of a phase run in one direction");
      direction = v.reverse;
    }
    is_visible_[static_cast<std::size_t>(id)] = true;
  }
  for (const Store& s : phase.stores) store(s, visible);
  for (ValueId id = phase.begin; id < phase.end; ++id) {
    const bool kept = phase.inner.empty() || is_combined(k_, id);
    is_visible_[static_cast<std::size_t>(id)] = kept;
    if (kept && value(id).op == ScalarOp::bounded) unit_.insert(value(id).symbol);
  }
}

void KernelVerifier::operands(ValueId id, const Value& v) {
  int count = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const ValueId a = v.args[i];
    if (a == kNoValue) continue;
    if (static_cast<int>(i) != count++) fail(at(id), "operands have a gap");
    if (a < 0 || a >= id) fail(at(id), fmt::format("operand %{} is not defined before", a));
    if (!is_visible_[static_cast<std::size_t>(a)]) fail(at(id), fmt::format("operand %{} is of another phase", a));
    if (is_incomplete(a) && v.op != ScalarOp::part)
      fail(at(id), fmt::format("combine %{} is used in its own phase", a));
  }
  const ScalarOpInfo& info = info_of(v.op);
  const bool is_tuple = v.op == ScalarOp::combine || v.op == ScalarOp::scan;
  if (is_tuple) {
    const CombineOpInfo& combine = info_of(v.combine);
    if (count != combine.operands && count != combine.parts)
      fail(at(id), fmt::format("{} takes {} operands, or {} that merge tuples, not {}", combine.name, combine.operands,
                               combine.parts, count));
  } else if (count != info.arity) {
    fail(at(id), fmt::format("{} takes {} operands, not {}", info.name, info.arity, count));
  }
}

void KernelVerifier::table(ValueId id, const Value& v) {
  const ScalarOpInfo& info = info_of(v.op);
  if (is_half(v.dtype)) fail(at(id), fmt::format("{} is no compute dtype", to_text(v.dtype)));
  if (v.origin >= static_cast<int>(p_.origins.size())) fail(at(id), fmt::format("origin @{} does not exist", v.origin));
  if (v.op == ScalarOp::combine || v.op == ScalarOp::scan) return tuple(id, v);
  if (v.op == ScalarOp::select) {
    if (value(v.args[0]).dtype != Dtype::boolean) fail(at(id), "the condition of a select is not boolean");
    if (value(v.args[1]).dtype != v.dtype || value(v.args[2]).dtype != v.dtype)
      fail(at(id), "the operands of a select have not its dtype");
    return;
  }
  if (info.arity == 0) return;
  const Dtype t = value(v.args[0]).dtype;
  for (int i = 0; i < info.arity; ++i) {
    const Dtype a = value(v.args[static_cast<std::size_t>(i)]).dtype;
    if (!takes(info.operands, a)) fail(at(id), fmt::format("{} does not take {}", info.name, to_text(a)));
    if (a != t) fail(at(id), fmt::format("operands {} and {} differ", to_text(t), to_text(a)));
  }
  const std::optional<Dtype> wanted = info.result == ResultRule::same      ? std::optional(t)
                                      : info.result == ResultRule::boolean ? std::optional(Dtype::boolean)
                                                                           : std::nullopt;
  if (wanted && v.dtype != *wanted)
    fail(at(id), fmt::format("{} of {} gives {}, not {}", info.name, to_text(t), to_text(*wanted), to_text(v.dtype)));
}

// Dtypes of combines and scans.
void KernelVerifier::tuple(ValueId id, const Value& v) {
  const CombineOpInfo& combine = info_of(v.combine);
  for (int i = 0; i < 3; ++i) {
    const ValueId a = v.args[static_cast<std::size_t>(i)];
    if (a != kNoValue && value(a).dtype != part_dtype(v, i))
      fail(at(id), fmt::format("operand {} of {} is {}, not {}", i, combine.name, to_text(value(a).dtype),
                               to_text(part_dtype(v, i))));
  }
  const bool logical = v.combine == CombineOp::any || v.combine == CombineOp::all;
  const bool floats = v.combine == CombineOp::welford || v.combine == CombineOp::online_softmax;
  if (logical && v.dtype != Dtype::boolean) fail(at(id), fmt::format("{} is of booleans", combine.name));
  if (floats && !is_floating(v.dtype)) fail(at(id), fmt::format("{} is of floats", combine.name));
  if ((v.combine == CombineOp::sum || v.combine == CombineOp::prod) && v.dtype == Dtype::boolean)
    fail(at(id), fmt::format("{} is of numbers", combine.name));
}

void KernelVerifier::payload(ValueId id, const Value& v, Symbols& visible) {
  switch (v.op) {
    case ScalarOp::index:
      if (v.dtype != Dtype::i64) fail(at(id), "an index is i64");
      check_symbols(at(id), "the index", v.index, visible);
      break;
    case ScalarOp::load: {
      if (!buffer_exists(v.buffer)) fail(at(id), fmt::format("buffer {} does not exist", v.buffer));
      const Dtype stored = p_.buffers[static_cast<std::size_t>(v.buffer)].dtype;
      if (v.dtype != compute_dtype(stored))
        fail(at(id), fmt::format("a load of {} gives {}", to_text(stored), to_text(compute_dtype(stored))));
      check_symbols(at(id), "the address", v.index, visible);
      break;
    }
    case ScalarOp::random:
      if (v.dtype != Dtype::f32 || (v.part != 0 && v.part != 1)) fail(at(id), "random is uniform or normal, f32");
      check_symbols(at(id), "the element", v.index, visible);
      [[fallthrough]];
    case ScalarOp::scalar:
      if (v.scalar < 0 || v.scalar >= static_cast<int>(p_.scalars.size()))
        fail(at(id), fmt::format("scalar {} does not exist", v.scalar));
      break;
    case ScalarOp::bounded:
      check_symbols(at(id), "the bound", v.index, visible);
      if (!v.symbol || !v.symbol.is_symbol()) fail(at(id), "bounded names no symbol");
      if (!visible.insert(v.symbol).second) fail(at(id), fmt::format("symbol {} is not unique", v.symbol.name()));
      break;
    case ScalarOp::part: {
      const Value& t = value(v.args[0]);
      if (t.op != ScalarOp::combine && t.op != ScalarOp::scan) fail(at(id), "part of no tuple");
      if (v.part < 1 || v.part >= info_of(t.combine).parts)
        fail(at(id), fmt::format("{} has no part {}", info_of(t.combine).name, v.part));
      if (v.dtype != part_dtype(t, v.part)) fail(at(id), fmt::format("the part is {}", to_text(part_dtype(t, v.part))));
      break;
    }
    case ScalarOp::round_to:
      if (!is_half(v.half) || v.dtype != Dtype::f32) fail(at(id), "round_to is from f32 to a half type");
      break;
    default:
      break;
  }
}

void KernelVerifier::store(const Store& s, const Symbols& visible) {
  if (!buffer_exists(s.buffer)) fail(here(), fmt::format("store to buffer {}, which does not exist", s.buffer));
  const Buffer& b = p_.buffers[static_cast<std::size_t>(s.buffer)];
  const std::string where = fmt::format("{}, store to {}", here(), b.name);
  if (b.kind == BufferKind::input && !b.written_input) fail(where, "the input is not marked as written");
  check_symbols(where, "the address", s.index, visible);
  if (s.value < 0 || s.value >= static_cast<ValueId>(k_.values.size()) ||
      !is_visible_[static_cast<std::size_t>(s.value)])
    fail(where, fmt::format("%{} is not visible here", s.value));
  if (is_incomplete(s.value)) fail(where, fmt::format("combine %{} is stored in its own phase", s.value));
  if (value(s.value).dtype != compute_dtype(b.dtype))
    fail(where, fmt::format("%{} is {}, a store to {} takes {}", s.value, to_text(value(s.value).dtype),
                            to_text(b.dtype), to_text(compute_dtype(b.dtype))));
}

void verify_view(const Program& p, const std::string& where, const View& v, const Symbols& sizes) {
  if (v.buffer < 0 || v.buffer >= static_cast<int>(p.buffers.size()))
    fail(where, fmt::format("buffer {} does not exist", v.buffer));
  if (v.sizes.size() != v.strides.size()) fail(where, "sizes and strides differ in number");
  for (Expr e : v.sizes) check_symbols(where, "size", e, sizes);
  for (Expr e : v.strides) check_symbols(where, "stride", e, sizes);
  check_symbols(where, "offset", v.offset, sizes);
}

void verify_call(const Program& p, const LibraryCall& c, const Symbols& sizes) {
  const std::string where = "call " + c.name;
  for (const View* v : {&c.a, &c.b, &c.out}) verify_view(p, where, *v, sizes);
  const std::size_t rank = c.out.sizes.size();
  if (rank < 2 || c.a.sizes.size() != rank || c.b.sizes.size() != rank) fail(where, "a, b and out have one rank, >= 2");
  const auto same = [&](Expr a, Expr b) { return a == b || symbolic::always(symbolic::eq(a, b), &p.facts); };
  if (!same(c.a.sizes[rank - 1], c.b.sizes[rank - 2]) || !same(c.out.sizes[rank - 2], c.a.sizes[rank - 2]) ||
      !same(c.out.sizes[rank - 1], c.b.sizes[rank - 1]))
    fail(where, "sizes of a, b and out do not fit");
  for (std::size_t d = 0; d + 2 < rank; ++d)
    if (!same(c.a.sizes[d], c.out.sizes[d]) || !same(c.b.sizes[d], c.out.sizes[d])) fail(where, "batch sizes differ");
  for (const auto* v : {&c.bias, &c.residual}) {
    if (!*v) continue;
    verify_view(p, where, **v, sizes);
    if ((*v)->sizes.size() != rank) fail(where, "bias and residual have the sizes of out");
    for (std::size_t d = 0; d < rank; ++d)
      if (!same((*v)->sizes[d], c.out.sizes[d])) fail(where, "bias and residual have the sizes of out");
  }
}

}  // namespace

bool takes(OperandClass c, Dtype t) {
  switch (c) {
    case OperandClass::a:
      return true;
    case OperandClass::n:
      return t != Dtype::boolean;
    case OperandClass::f:
      return is_floating(t);
    case OperandClass::i:
      return is_integral(t);
    case OperandClass::b:
      return t == Dtype::boolean;
    case OperandClass::l:
      return !is_floating(t);
    case OperandClass::_:
      return false;
  }
  return false;
}

void verify(const Program& p, const Kernel& k) { KernelVerifier(p, k).run(); }

void verify(const Program& p) {
  const Symbols sizes(p.sizes.begin(), p.sizes.end());
  std::unordered_set<std::string> names;
  for (const Buffer& b : p.buffers) {
    const std::string where = "buffer " + b.name;
    if (b.name.empty() || !names.insert(b.name).second) fail(where, "the name is empty or not unique");
    if (b.sizes.size() != b.strides.size()) fail(where, "sizes and strides differ in number");
    for (Expr e : b.sizes) check_symbols(where, "size", e, sizes);
    for (Expr e : b.strides) check_symbols(where, "stride", e, sizes);
    if ((b.kind == BufferKind::input) != (b.input >= 0)) fail(where, "an input, and no other buffer, has a position");
  }
  for (const ScalarInput& s : p.scalars)
    if (s.value) check_symbols("scalar " + s.name, "the value", s.value, sizes);
  for (const Item& item : p.items) {
    if (const auto* k = std::get_if<Kernel>(&item))
      verify(p, *k);
    else
      verify_call(p, std::get<LibraryCall>(item), sizes);
  }
  for (const View& v : p.outputs) verify_view(p, "output", v, sizes);
}

}  // namespace stax::loop
