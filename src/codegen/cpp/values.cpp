// Statements for single values, at the loop level where they belong.
#include <fmt/format.h>

#include "codegen/common/same_value.h"
#include "codegen/cpp/kernel_emitter.h"
#include "codegen/cpp/spelling.h"

namespace stax::codegen {

using fmt::format;

std::string KernelEmitter::position(const Site& site) const { return bare(site.axis); }

std::string KernelEmitter::ref(ValueId id, bool vector) const {
  const Value& v = value(id);
  if (v.op == ScalarOp::constant) {
    const std::string text = literal(v.bits, v.dtype);
    return vector ? splat(v.dtype, text) : text;
  }
  std::string name = format("v{}", id);
  if (v.op == ScalarOp::part) name = v.part == 0 ? format("v{}", v.args[0]) : format("v{}_{}", v.args[0], v.part);
  if (vector && !is_vector(id)) return splat(v.dtype, name);
  return name;
}

std::string KernelEmitter::declare(Dtype t, bool vector) const {
  return format("const {}", vector ? vector_type(t) : register_type(t));
}

std::string KernelEmitter::raise(int code, int origin, std::string_view index, std::string_view bound) const {
  return format("v::raise(error, {}, {}, {}, {});", code, origin, index, bound);
}

// The address split at the vectorised axis.
KernelEmitter::Address KernelEmitter::address_of(const Site& site, Expr index) const {
  Address a;
  a.level = site.levels->of(index);
  if (!site.axis || a.level < site.depth()) {
    a.rest = index;
    return a;
  }
  a.kind = Address::lanes;
  for (Expr s : symbolic::symbols_of(index))
    if (const auto it = bounded_.find(s); it != bounded_.end() && is_vector(it->second)) return a;
  const auto linear = symbolic::linear_in(index, site.axis);
  if (!linear) return a;
  a.rest = linear->rest;
  a.coefficient = linear->coefficient;
  a.level = site.levels->of(a.rest);
  if (a.coefficient.is_constant(0))
    a.kind = Address::uniform;
  else
    a.kind = a.coefficient.is_constant(1) ? Address::unit : Address::strided;
  return a;
}

// An expression for lane l: the axis is l further, indices per lane come from their arrays.
std::string KernelEmitter::lane_text(const Site& site, Expr e) const {
  SymbolNames names = names_;
  names[site.axis] = format("({} + l)", position(site));
  for (Expr s : symbolic::symbols_of(e))
    if (const auto it = bounded_.find(s); it != bounded_.end() && is_vector(it->second))
      names[s] = format("x{}[l]", it->second);
  return expr_.bare(e, names);
}

void KernelEmitter::emit_pointer(const Site& site, const std::string& name, int buffer, Expr address, bool writes) {
  (void)site;
  const auto type = memory_type(p_.buffers[static_cast<std::size_t>(buffer)].dtype);
  out_.format_line("{}{}* const {} = buf{} + {};", writes ? "" : "const ", type, name, buffer, text_of(address));
}

void KernelEmitter::emit_load(const Site& site, ValueId id, const Copy& copy) {
  const Value& v = value(id);
  const bool vector = is_vector(id);
  const Address a = address_of(site, v.index);
  const std::string head = format("{} v{} = ", declare(v.dtype, vector), id);
  if (!vector) {
    out_.format_line("{}v::load1(buf{} + {});", head, v.buffer, text_of(v.index));
    return;
  }
  const std::string p = format("p{} + {}", id, position(site));
  if (a.kind == Address::unit) {
    out_.line(copy.partial ? format("{}v::load_part({}, n);", head, p) : format("{}v::load({});", head, p));
    if (s_.tile_axis < 0) fetch_ahead(site, id);
  } else if (a.kind == Address::strided) {
    const std::string c = text_of(a.coefficient);
    out_.line(format("{}v::load_strided{}(p{} + {} * {}, {}{});", head, copy.partial ? "_part" : "", id, c,
                     position(site), c, copy.partial ? ", n" : ""));
  } else {
    const auto type = memory_type(p_.buffers[static_cast<std::size_t>(v.buffer)].dtype);
    out_.format_line("alignas(64) {} t{}[v::L] = {{}};", type, id);
    out_.format_line("for (i64 l = 0; l < {}; l++) t{}[l] = buf{}[{}];", copy.partial ? "n" : "v::L", id, v.buffer,
                     lane_text(site, v.index));
    out_.format_line("{}v::load(t{});", head, id);
  }
}

// The same elements of a unit that comes soon: its row is on its way while this one is computed.
void KernelEmitter::fetch_ahead(const Site& site, ValueId id) {
  const int units = s_.phases[static_cast<std::size_t>(site.number)].ahead;
  if (units == 0 || is_outer() || s_.order.empty()) return;
  const Expr unit = k_.outer[static_cast<std::size_t>(s_.order.back())].var;
  const auto linear = symbolic::linear_in(value(id).index, unit);
  if (!linear || linear->coefficient.is_constant(0) || site.levels->of(linear->coefficient) > 0) return;
  out_.format_line("__builtin_prefetch(p{} + {} + {} * {});", id, position(site), units, text_of(linear->coefficient));
}

void KernelEmitter::emit_index(const Site& site, ValueId id, const Copy& copy) {
  const Value& v = value(id);
  if (!is_vector(id)) {
    out_.format_line("const i64 v{} = {};", id, bare(v.index));
    return;
  }
  const Address a = address_of(site, v.index);
  if (a.kind == Address::lanes) {
    out_.format_line("alignas(64) i64 t{}[v::L] = {{}};", id);
    out_.format_line("for (i64 l = 0; l < {}; l++) t{}[l] = {};", copy.partial ? "n" : "v::L", id,
                     lane_text(site, v.index));
    out_.format_line("const i64v v{} = v::load(t{});", id, id);
  } else if (a.kind == Address::unit) {
    out_.format_line("const i64v v{} = v::splat<i64>({}) + v::iota<i64>();", id, bare(v.index));
  } else {
    out_.format_line("const i64v v{} = v::splat<i64>({}) + v::splat<i64>({}) * v::iota<i64>();", id, bare(v.index),
                     bare(a.coefficient));
  }
}

// x{id} is the checked index: one number, or an array over the lanes. The value itself is the index in its dtype.
void KernelEmitter::emit_bounded(const Site& site, ValueId id, const Copy& copy) {
  const Value& v = value(id);
  const bool vector = is_vector(id);
  auto checked = [&](const std::string& x, const std::string& bound) {
    if (v.checked) return format("v::bounded({}, {}, {}, error, {})", x, bound, v.wraps_negative, v.origin);
    return v.wraps_negative ? format("v::wrapped({}, {})", x, bound) : x;
  };
  if (!vector) {
    out_.format_line("const i64 x{} = {};", id, checked(format("(i64){}", ref(v.args[0], false)), bare(v.index)));
    out_.format_line("const {} v{} = ({})x{};", register_type(v.dtype), id, register_type(v.dtype), id);
    return;
  }
  out_.format_line("alignas(64) i64 x{}[v::L] = {{}};", id);
  out_.format_line("alignas(64) {} t{}[v::L];", register_type(v.dtype), id);
  out_.format_line("v::store(t{}, {});", id, ref(v.args[0], true));
  out_.format_line("for (i64 l = 0; l < {}; l++) x{}[l] = {};", copy.partial ? "n" : "v::L", id,
                   checked(format("(i64)t{}[l]", id), lane_text(site, v.index)));
  out_.format_line("const {} v{} = v::cvt<{}>(v::load(x{}));", vector_type(v.dtype), id, register_type(v.dtype), id);
}

void KernelEmitter::emit_random(const Site& site, ValueId id) {
  const Value& v = value(id);
  needs_.insert("random");
  const std::string function = v.part == 1 ? "v::random_normal" : "v::random_uniform";
  const std::string seed = format("(i64)scalars[{}]", v.scalar);
  if (!is_vector(id)) {
    out_.format_line("const f32 v{} = {}((i64)({}), {});", id, function, bare(v.index), seed);
    return;
  }
  out_.format_line("alignas(64) i64 t{}[v::L];", id);
  out_.format_line("for (i64 l = 0; l < v::L; l++) t{}[l] = {};", id, lane_text(site, v.index));
  out_.format_line("const f32v v{} = {}(v::load(t{}), {});", id, function, id, seed);
}

std::string KernelEmitter::cast_text(std::string_view x, Dtype from, Dtype to, bool vector) {
  const auto type = register_type(to);
  if (from == to) return std::string(x);
  if (is_floating(from) && is_integral(to)) {
    return vector ? format("v::float_to_int<{}>({})", type, x)
                  : format("v::float_to_int<{}>(v::splat<{}>({}))[0]", type, register_type(from), x);
  }
  if (!vector) return to == Dtype::boolean ? format("{} != 0", x) : format("({}){}", type, x);
  if (from == Dtype::boolean) return format("v::from_bool<{}>({})", type, x);
  return to == Dtype::boolean ? format("v::cvt<b8>({})", x) : format("v::cvt<{}>({})", type, x);
}

// max and min of floats where one side is a constant: one comparison decides NaN and signed zero as well.
std::string KernelEmitter::extremum_text(const Value& v) {
  if ((v.op != ScalarOp::max && v.op != ScalarOp::min) || !is_floating(v.dtype)) return {};
  const bool second = value(v.args[1]).op == ScalarOp::constant;
  if (!second && value(v.args[0]).op != ScalarOp::constant) return {};
  const ValueId constant = v.args[second ? 1 : 0], other = v.args[second ? 0 : 1];
  const std::string text = literal(value(constant).bits, v.dtype);
  const std::string c = ref(constant, true), x = ref(other, true);
  if (text.starts_with("__builtin")) return {};
  const bool negative_zero = text == "-0.0f" || text == "-0.0", positive_zero = text == "0.0f" || text == "0.0";
  const bool zero = negative_zero || positive_zero;
  if (v.dtype == Dtype::f32 && !zero)
    return format("v::{}({}, {})", v.op == ScalarOp::max ? "at_least" : "at_most", x, text);
  if (v.op == ScalarOp::max) return format("v::select(v::{}({}, {}), {}, {})", negative_zero ? "gt" : "ge", c, x, c, x);
  return format("v::select(v::{}({}, {}), {}, {})", positive_zero ? "lt" : "le", c, x, c, x);
}

std::string KernelEmitter::operation_text(const Value& v, bool vector) {
  const Dtype operand = v.op == ScalarOp::select ? v.dtype : value(v.args[0]).dtype;
  if (const auto snippet = prelude_snippet_of(v.op, operand); !snippet.empty()) needs_.insert(snippet);
  const auto type = register_type(operand);
  if (!vector) {
    const auto pattern = cpp_scalar_spelling()[static_cast<std::size_t>(v.op)].of(operand);
    if (!pattern.empty()) {
      std::string a[3];
      for (int i = 0; i < 3; ++i)
        if (v.args[static_cast<std::size_t>(i)] != kNoValue) a[i] = ref(v.args[static_cast<std::size_t>(i)], false);
      if (v.op == ScalarOp::neg && a[0].starts_with('-')) a[0] = format("({})", a[0]);  // a negative literal
      const std::string text = fill_pattern(pattern, a[0], a[1], a[2], type);
      const bool narrow = is_integral(v.dtype) && byte_size(v.dtype) < 4;
      return narrow ? format("({})({})", register_type(v.dtype), text) : text;
    }
  }
  std::string text = vector ? extremum_text(v) : std::string();
  if (text.empty()) {
    const auto pattern = cpp_vector_spelling()[static_cast<std::size_t>(v.op)].of(operand);
    STAX_CHECK(!pattern.empty(), format("no C++ spelling of {} for {}", loop::info_of(v.op).name, to_text(operand)));
    std::string a[3];
    for (int i = 0; i < 3; ++i) {
      const ValueId arg = v.args[static_cast<std::size_t>(i)];
      if (arg == kNoValue) continue;
      a[i] = vector ? ref(arg, true) : splat(value(arg).dtype, ref(arg, false));
    }
    text = fill_pattern(pattern, a[0], a[1], a[2], type);
  }
  if (vector && v.op == ScalarOp::exp && v.dtype == Dtype::f32 && is_below_maximum(k_, v.args[0]))
    return format("v::exp_weight({})", ref(v.args[0], true));
  if (vector) return text;
  return v.dtype == Dtype::boolean ? format("({})[0] != 0", text) : format("({})[0]", text);
}

void KernelEmitter::emit_operation(const Site& site, ValueId id, const Copy& copy) {
  (void)site;
  const Value& v = value(id);
  const bool vector = is_vector(id);
  const std::string head = format("{} v{} = ", declare(v.dtype, vector), id);
  switch (v.op) {
    case ScalarOp::scalar: {
      const Dtype from = p_.scalars[static_cast<std::size_t>(v.scalar)].dtype;
      const std::string host = from == Dtype::boolean
                                   ? format("(scalars[{}] != 0)", v.scalar)
                                   : format("__builtin_bit_cast({}, scalars[{}])", to_text(from), v.scalar);
      out_.line(head + cast_text(host, from, v.dtype, false) + ";");
      return;
    }
    case ScalarOp::cast:
      out_.line(head + cast_text(ref(v.args[0], vector), value(v.args[0]).dtype, v.dtype, vector) + ";");
      return;
    case ScalarOp::round_to:
      out_.format_line("{}v::round_{}({});", head, to_text(v.half), ref(v.args[0], vector));
      return;
    default:
      break;
  }
  const Dtype operand = value(v.args[0]).dtype;
  const bool constant_divisor =
      v.args[1] != kNoValue && value(v.args[1]).op == ScalarOp::constant && value(v.args[1]).bits != 0;
  if (is_integer_division(v.op, operand) && !constant_divisor) {
    const std::string b = ref(v.args[1], vector);
    const std::string zero = !vector ? format("{} == 0", b)
                             : copy.partial
                                 ? format("v::any(v::eq({0}, {1}{{}}) & v::first(n))", b, vector_type(operand))
                                 : format("v::any_zero({})", b);
    out_.format_line("if ({}) {}", zero, raise(2, v.origin, "0", "0"));
  }
  out_.format_line("{}{};", head, operation_text(v, vector));
}

void KernelEmitter::emit_value(const Site& site, ValueId id, const Copy& copy) {
  const Value& v = value(id);
  if (const auto kept = kept_.find(id); kept != kept_.end()) {
    out_.format_line("{} v{} = v::load{}({} + {}{});", declare(v.dtype, true), id, copy.partial ? "_part" : "",
                     kept->second, position(site), copy.partial ? ", n" : "");
    return;
  }
  if (const auto turned = turned_.find(id); turned != turned_.end()) {
    out_.format_line("{} v{} = {};", declare(v.dtype, true), id, turned->second);
    return;
  }
  switch (v.op) {
    case ScalarOp::constant:
    case ScalarOp::part:
      return;
    case ScalarOp::load:
      return emit_load(site, id, copy);
    case ScalarOp::index:
      return emit_index(site, id, copy);
    case ScalarOp::bounded:
      return emit_bounded(site, id, copy);
    case ScalarOp::random:
      return emit_random(site, id);
    case ScalarOp::combine:
      return is_outer() ? update_array(site, id) : update_accumulator(site, id, copy);
    case ScalarOp::scan:
      return emit_scan(site, id, copy);
    default:
      return emit_operation(site, id, copy);
  }
}

// Pointers and values of one level of the nest; the deepest level also stores.
void KernelEmitter::emit_level(const Site& site, int level, const Copy& copy) {
  const Phase& p = *site.phase;
  const bool deepest = level == site.depth();
  for (ValueId id = p.begin; id < p.end; ++id) {
    const Value& v = value(id);
    if (kept_.contains(id) && !deepest) continue;
    if (v.op == ScalarOp::load && is_vector(id) && !kept_.contains(id) && !turned_.contains(id)) {
      const Address a = address_of(site, v.index);
      if (a.kind != Address::lanes && a.level == level) emit_pointer(site, format("p{}", id), v.buffer, a.rest, false);
    }
    if (site.levels->of(id) != level) continue;
    emit_value(site, id, copy);
    if (deepest) keep_row_value(site, id);
    const bool kept = deepest && is_outer() && p.inner.empty() && crosses_[static_cast<std::size_t>(id)];
    if (kept && v.op != ScalarOp::constant) keep_unit_value(site, id);
  }
  for (std::size_t i = 0; i < p.stores.size(); ++i) {
    if (site.axis) {
      const Address a = address_of(site, p.stores[i].index);
      if (a.kind != Address::lanes && a.level == level && a.kind != Address::uniform)
        emit_pointer(site, format("q{}_{}", site.number, i), p.stores[i].buffer, a.rest, true);
    }
    if (!deepest) continue;
    const bool once = is_split() && p.inner.empty();  // every thread of the team is here
    if (once) out_.line("if (team->thread == 0) {");
    emit_store(site, i, copy);
    if (once) out_.line("}");
  }
}

void KernelEmitter::emit_store(const Site& site, std::size_t index, const Copy& copy) {
  const Store& s = site.phase->stores[index];
  const Dtype to = p_.buffers[static_cast<std::size_t>(s.buffer)].dtype;
  const Dtype from = value(s.value).dtype;
  const bool vector = static_cast<bool>(site.axis);
  const std::string x = cast_text(ref(s.value, vector), from, compute_dtype(to), vector);
  if (!vector) {
    out_.format_line("v::store1(buf{} + {}, ({})({}));", s.buffer, text_of(s.index), register_type(to), x);
    return;
  }
  const Address a = address_of(site, s.index);
  const std::string q = format("q{}_{}", site.number, index);
  const std::string last = copy.partial ? ", n" : "";
  if (a.kind == Address::unit) {
    const std::string name = copy.partial ? "store_part" : "store";
    if (copy.stream && !copy.partial) {
      out_.format_line("if (stream{}) v::store_stream({} + {}, {});", site.number, q, position(site), x);
      out_.format_line("else v::store({} + {}, {});", q, position(site), x);
    } else {
      out_.format_line("v::{}({} + {}, {}{});", name, q, position(site), x, last);
    }
  } else if (a.kind == Address::strided) {
    const std::string c = text_of(a.coefficient);
    out_.format_line("v::store_strided{}({} + {} * {}, {}, {}{});", copy.partial ? "_part" : "", q, c, position(site),
                     c, x, last);
  } else {
    out_.format_line("alignas(64) {} o{}_{}[v::L];", memory_type(to), site.number, index);
    out_.format_line("v::store(o{}_{}, {});", site.number, index, x);
    out_.format_line("for (i64 l = 0; l < {}; l++) buf{}[{}] = o{}_{}[l];", copy.partial ? "n" : "v::L", s.buffer,
                     lane_text(site, s.index), site.number, index);
  }
}

}  // namespace stax::codegen
