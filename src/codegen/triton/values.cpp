// Statements for single values and stores.
#include <fmt/format.h>

#include "codegen/common/same_value.h"
#include "codegen/triton/kernel_emitter.h"
#include "codegen/triton/spelling.h"

namespace stax::codegen {

using fmt::format;

namespace {

std::string joined(const std::string& a, const std::string& b, const char* between) {
  if (a.empty() || b.empty()) return a + b;
  return a + between + b;
}

bool is_int_division(ScalarOp op, Dtype t) {
  return is_integral(t) && (op == ScalarOp::floor_div || op == ScalarOp::trunc_div || op == ScalarOp::floor_mod ||
                            op == ScalarOp::trunc_mod);
}

}  // namespace

void TritonEmitter::line(const std::string& text, const std::string& comment) {
  out_.format_line("{}  # {}", text, comment);
}

// The operation, and the user's operator that it came from.
std::string TritonEmitter::note(const Value& v) const {
  const std::string op(loop::info_of(v.op).name);
  std::string from;
  if (!operators_.empty())
    from = operators_.at(static_cast<std::size_t>(&v - k_.values.data()));
  else if (v.origin >= 0 && v.origin < static_cast<int>(p_.origins.size()))
    from = p_.origins[static_cast<std::size_t>(v.origin)].op;
  return from.empty() || from == op ? op : op + " of " + from;
}

std::string TritonEmitter::ref(ValueId id) const {
  if (const auto r = reused_.find(id); r != reused_.end()) id = r->second;
  const Value& v = value(id);
  if (v.op != ScalarOp::part) return format("v{}", id);
  const ValueId tuple = v.args[0];
  return v.part == 0 ? format("v{}", tuple) : format("v{}_{}", tuple, v.part);
}

std::string TritonEmitter::broadcast_text(const Site& site, const std::string& text, unsigned dims) const {
  const std::string shape = shape_of(site, site.full);
  if (dims == site.full || shape == "[]") return text;
  return format("tl.broadcast_to({}, {})", text, shape);
}

std::string TritonEmitter::broadcast(const Site& site, ValueId id) const {
  // A combine's result is a block even where it varies along nothing.
  const bool block = has_inner_ && site.full == kX && value(id).op == ScalarOp::combine;
  return block ? ref(id) : broadcast_text(site, ref(id), dims_of(id));
}

std::string TritonEmitter::integer_text(Expr e) const {
  if (e.constant()) return format("tl.full([], {}, tl.int64)", *e.constant());
  return format("({}).to(tl.int64)", bare(e));
}

std::string TritonEmitter::ok_mask(Expr e) const {
  std::string text;
  for (Expr s : symbolic::symbols_of(e)) {
    const auto b = bounded_.find(s);
    if (b == bounded_.end() || !value(b->second).checked) continue;
    text = joined(text, format("ok{}", b->second), " & ");
  }
  return text;
}

// Read by more than one unit or position: the address ignores an axis.
bool TritonEmitter::is_shared(const Site& site, Expr address) const {
  auto ignores = [&](const loop::Axis& a) { return !a.extent.is_constant(1) && !symbolic::depends_on(address, a.var); };
  for (const loop::Axis& a : k_.outer)
    if (ignores(a)) return true;
  for (const loop::Axis& a : site.phase->inner)
    if (ignores(a)) return true;
  return false;
}

void TritonEmitter::emit_load(const Site& site, ValueId id) {
  const Value& v = value(id);
  const loop::Buffer& b = p_.buffers[static_cast<std::size_t>(v.buffer)];
  const unsigned dims = dims_of(v.index);
  const std::string mask = joined(full_mask(site, dims), ok_mask(v.index), " & ");
  const loop::Evict evict =
      is_shared(site, v.index) ? loop::Evict::last : s_.phases[static_cast<std::size_t>(site.number)].load;
  std::string text = format("tl.load(b{} + {}", v.buffer, text_of(v.index));
  if (!mask.empty()) text += format(", mask={}, other=0", mask);
  if (evict != loop::Evict::none && dims != 0)
    text += format(", eviction_policy=\"evict_{}\"", evict == loop::Evict::last ? "last" : "first");
  text += ")";
  if (b.dtype == Dtype::boolean)
    text += " != 0";
  else if (b.dtype != v.dtype)
    text += format(".to({})", triton_type(v.dtype));
  line(format("v{} = {}", id, text), note(v));
}

// x{id} is the checked index, ok{id} says where it was in range.
void TritonEmitter::emit_bounded(const Site& site, ValueId id) {
  const Value& v = value(id);
  const std::string bound = text_of(v.index), x = format("x{}", id);
  line(format("{} = {}.to(tl.int{})", x, ref(v.args[0]), v.dtype == Dtype::i64 ? 64 : s_.index_bits), note(v));
  std::string given = x;
  if (v.wraps_negative) {
    given = format("g{}", id);
    out_.format_line("{} = {}", given, x);
    out_.format_line("{0} = tl.where({0} < 0, {0} + {1}, {0})", x, bound);
  }
  if (v.checked) {
    out_.format_line("ok{0} = ({1} >= 0) & ({1} < {2})", id, x, bound);
    const unsigned dims = dims_of(id);
    const std::string bad = joined(format("(ok{} == 0)", id), full_mask(site, dims), " & ");
    const std::string index = format("{}.to(tl.int64)", given);
    const unsigned bound_dims = dims_of(v.index);
    const std::string limit =
        bound_dims == 0 ? bound : format("tl.max({}, axis=None)", broadcast_text(site, bound, bound_dims));
    out_.format_line("stax_raise(error, {}, {}, {}, {}, {})", broadcast_text(site, bad, dims), v.wraps_negative ? 3 : 1,
                     v.origin, broadcast_text(site, index, dims), limit);
    out_.format_line("{0} = tl.where(ok{1}, {0}, {0} & 0)", x, id);
  }
  out_.format_line("v{} = {}.to({})", id, x, triton_type(v.dtype));
  if (v.symbol) names_[v.symbol] = x;
}

void TritonEmitter::emit_random(const Site&, ValueId id) {
  const Value& v = value(id);
  line(format("v{} = stax_{}({}, scalar{})", id, v.part == 1 ? "normal" : "uniform", integer_text(v.index), v.scalar),
       note(v));
}

std::string TritonEmitter::cast_text(const std::string& x, Dtype from, Dtype to) const {
  if (from == to) return x;
  if (to == Dtype::boolean) return x + " != 0";
  if (is_floating(from) && is_integral(to)) {
    const std::string wide = format("stax_float_to_int64({})", x);
    return to == Dtype::i64 ? wide : format("{}.to({})", wide, triton_type(to));
  }
  return format("{}.to({})", x, triton_type(to));
}

// How to divide x by the sum of x along its row, where x >= 0: most of a normalised row's arithmetic is this division.
// Empty where a value is something else.
std::string_view TritonEmitter::share_pattern(const Value& v) const {
  if (v.op != ScalarOp::div || v.dtype != Dtype::f32) return {};
  if ((dims_of(v.args[0]) & kR) == 0 || dims_of(v.args[1]) != kX) return {};
  constexpr std::string_view kSoftmax = "stax_softmax_share({0}, {1})", kAny = "stax_share({0}, {1})";
  const Value &a = value(v.args[0]), &b = value(v.args[1]);
  if (b.op == ScalarOp::part && b.part == 1 && is_softmax_weight(k_, v.args[0], b.args[0])) return kSoftmax;
  if (b.op != ScalarOp::combine || b.combine != CombineOp::sum) return {};
  if (b.args[0] != v.args[0] && !same_value(k_, v.args[0], b.args[0])) return {};
  if (is_below_maximum(a)) return kSoftmax;
  return a.op == ScalarOp::exp || a.op == ScalarOp::exp2 || a.op == ScalarOp::abs ? kAny : std::string_view();
}

// Whether a value is e^(x - max x) along its row: one of them is 1.
bool TritonEmitter::is_below_maximum(const Value& e) const {
  if (e.op != ScalarOp::exp || value(e.args[0]).op != ScalarOp::sub) return false;
  const Value &d = value(e.args[0]), &m = value(d.args[1]);
  return m.op == ScalarOp::combine && m.combine == CombineOp::max &&
         (m.args[0] == d.args[0] || same_value(k_, d.args[0], m.args[0]));
}

void TritonEmitter::emit_operation(const Site& site, ValueId id) {
  const Value& v = value(id);
  const Dtype operand = v.op == ScalarOp::select ? v.dtype : value(v.args[0]).dtype;
  const auto pattern = triton_spelling(v.op, operand);
  STAX_CHECK(!pattern.empty(), format("no Triton spelling of {} for {}", loop::info_of(v.op).name, to_text(operand)));
  std::string a[3];
  for (std::size_t i = 0; i < 3; ++i)
    if (v.args[i] != kNoValue) a[i] = ref(v.args[i]);
  if (is_int_division(v.op, operand) && !(value(v.args[1]).op == ScalarOp::constant && value(v.args[1]).bits != 0)) {
    const unsigned dims = dims_of(id);
    const std::string bad = joined(format("({} == 0)", a[1]), full_mask(site, dims), " & ");
    const std::string block = broadcast_text(site, bad, dims);
    out_.format_line("stax_raise(error, {0}, 2, {1}, {2}, 0)", block, v.origin,
                     broadcast_text(site, format("({} & 0).to(tl.int64)", a[1]), dims_of(v.args[1])));
  }
  const std::string_view share = share_pattern(v), text = share.empty() ? pattern : share;
  line(format("v{} = {}", id, fill_pattern(text, a[0], a[1], a[2])), note(v));
}

void TritonEmitter::emit_value(const Site& site, ValueId id) {
  if (!needed_[static_cast<std::size_t>(id)]) return;
  const Value& v = value(id);
  switch (v.op) {
    case ScalarOp::part:
      return;
    case ScalarOp::constant:
      return line(format("v{} = {}", id, triton_literal(v.bits, v.dtype)), note(v));
    case ScalarOp::index:
      return line(format("v{} = {}", id, integer_text(v.index)), note(v));
    case ScalarOp::load:
      return emit_load(site, id);
    case ScalarOp::scalar: {
      const Dtype from = p_.scalars[static_cast<std::size_t>(v.scalar)].dtype;
      const std::string x = format("scalar{}", v.scalar);
      const std::string host = from == Dtype::boolean ? format("({} != 0)", x) : x;
      return line(format("v{} = {}", id, cast_text(host, from, v.dtype)), note(v));
    }
    case ScalarOp::bounded:
      return emit_bounded(site, id);
    case ScalarOp::random:
      return emit_random(site, id);
    case ScalarOp::combine:
      return site.form == InnerForm::looped ? update_accumulators(site, id) : emit_combine(site, id);
    case ScalarOp::scan:
      return emit_scan(site, id);
    case ScalarOp::cast:
      return line(format("v{} = {}", id, cast_text(ref(v.args[0]), value(v.args[0]).dtype, v.dtype)), note(v));
    case ScalarOp::round_to:
      return line(format("v{} = {}.to({}).to({})", id, ref(v.args[0]), triton_type(v.half), triton_type(v.dtype)),
                  note(v));
    default:
      return emit_operation(site, id);
  }
}

void TritonEmitter::emit_store(const Site& site, const Store& s) {
  const loop::Buffer& b = p_.buffers[static_cast<std::size_t>(s.buffer)];
  const unsigned dims = dims_of(s.index);
  std::string address;
  if (s.index.constant())
    address = shape_of(site, site.full) == "[]"
                  ? bare(s.index)
                  : format("tl.full({}, {}, tl.int64)", shape_of(site, site.full), *s.index.constant());
  else
    address = broadcast_text(site, text_of(s.index), dims);
  const std::string mask = joined(full_mask(site, site.full), ok_mask(s.index), " & ");
  std::string x = ref(s.value);
  if (b.dtype == Dtype::boolean || b.dtype != value(s.value).dtype)
    x = cast_text(x, value(s.value).dtype, b.dtype == Dtype::boolean ? Dtype::i8 : b.dtype);
  const loop::Evict evict = s_.phases[static_cast<std::size_t>(site.number)].store;
  std::string text = format("tl.store(b{} + {}, {}", s.buffer, address, x);
  if (!mask.empty()) text += format(", mask={}", mask);
  if (evict != loop::Evict::none)
    text += format(", eviction_policy=\"evict_{}\"", evict == loop::Evict::last ? "last" : "first");
  out_.line(text + ")");
}

}  // namespace stax::codegen
