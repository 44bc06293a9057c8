// The outer form: values of a unit live in arrays over the chunk, one element a lane.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpp/kernel_emitter.h"

namespace stax::codegen {

using fmt::format;

namespace {

std::string part_suffix(int part) { return part == 0 ? "" : format("_{}", part); }

}  // namespace

void KernelEmitter::declare_array(const std::string& name, std::string_view type, std::int64_t length) {
  if (std::find(arrays_.begin(), arrays_.end(), name) != arrays_.end()) return;
  arrays_.push_back(name);
  array_declarations_ += format("alignas(64) {} {}[{}];\n", type, name, length + lanes_);
}

std::string KernelEmitter::element(const Site& site, const std::string& array) const {
  return format("{} + ({} - c0)", array, position(site));
}

// Accumulators start at the identity. In a team every part has arrays of its own behind the same names.
void KernelEmitter::initialise_arrays(const Site& site) {
  std::string fill;
  int slot = 0;
  const auto ids = combines_of(*site.phase);
  if (std::any_of(ids.begin(), ids.end(), [&](ValueId id) { return is_long_sum(value(id)); }))
    out_.format_line("i64 rows{}_seen = 0;", site.number);
  for (ValueId id = site.phase->begin; id < site.phase->end; ++id) {
    const Value& v = value(id);
    if (v.op != ScalarOp::combine && v.op != ScalarOp::scan) continue;
    for (int part = 0; part < loop::info_of(v.combine).parts; ++part, ++slot) {
      const Dtype t = loop::part_dtype(v, part);
      const std::string name = format("au{}{}", id, part_suffix(part));
      declare_array(name, memory_type(t), s_.chunk);
      if (is_split() && v.op == ScalarOp::combine)
        out_.format_line("{0}* const {1} = ({0}*)(team->partials + ({2} * team->parts + part) * {3});", memory_type(t),
                         name, split_slots_ + slot, s_.chunk + lanes_);
      const bool arg = part == 1 && (v.combine == CombineOp::argmax || v.combine == CombineOp::argmin);
      const std::string init = arg         ? "v::splat<i64>(__LONG_MAX__)"
                               : part == 0 ? v.combine == CombineOp::welford ? format("{}{{}}", vector_type(t))
                                                                             : identity_vector(v.combine, t)
                                           : format("{}{{}}", vector_type(t));
      fill += format("v::store({} + j, {});\n", name, init);
    }
    if (is_long_sum(v)) {
      declare_array(format("y{}", id), memory_type(v.dtype), s_.chunk);
      fill += format("v::store(y{} + j, {});\n", id, format("{}{{}}", vector_type(v.dtype)));
    }
    if (v.combine == CombineOp::welford && v.args[1] == kNoValue) out_.format_line("f64 n{}_seen = 0;", id);
  }
  if (fill.empty()) return;
  const auto block = out_.block("for (i64 j = 0; j < c1 - c0; j += v::L) {");
  out_ << fill;
}

// Float sums over rows go to totals every kRows rows: the error grows with kRows + rows / kRows, not with the rows.
bool KernelEmitter::is_long_sum(const Value& v) const {
  return v.op == ScalarOp::combine && v.combine == CombineOp::sum && is_floating(v.dtype);
}

void KernelEmitter::flush_sums(const Site& site, bool last) {
  constexpr int kRows = 4096;
  std::string text;
  for (ValueId id : combines_of(*site.phase)) {
    if (!is_long_sum(value(id))) continue;
    const auto type = vector_type(value(id).dtype);
    if (last)
      text += format("v::store(au{0} + j, v::load(y{0} + j) + v::load(au{0} + j));\n", id);
    else
      text += format("v::store(y{0} + j, v::load(y{0} + j) + v::load(au{0} + j));\nv::store(au{0} + j, {1}{{}});\n", id,
                     type);
  }
  if (text.empty()) return;
  const std::string seen = format("rows{}_seen", site.number);
  const auto full =
      out_.block(last ? format("if ({} >= {}) {{", seen, kRows) : format("if (++{} % {} == 0) {{", seen, kRows));
  const auto loop = out_.block("for (i64 j = 0; j < c1 - c0; j += v::L) {");
  out_ << text;
}

// Counts shared by all lanes, once for each step of the inner loops.
void KernelEmitter::count_step(const Site& site) {
  for (ValueId id = site.phase->begin; id < site.phase->end; ++id) {
    const Value& v = value(id);
    const bool tuple = v.op == ScalarOp::combine || v.op == ScalarOp::scan;
    if (!tuple || v.combine != CombineOp::welford || v.args[1] != kNoValue) continue;
    out_.format_line("n{}_seen += 1;", id);
    out_.format_line("const {0} w{1} = ({0})(1 / n{1}_seen);", register_type(v.dtype), id);
  }
}

// Parts of a team into the arrays of the unit, in order of the parts; every thread for itself.
void KernelEmitter::merge_team_arrays(const Site& site) {
  int slot = 0;
  for (ValueId id : combines_of(*site.phase)) {
    const Value& v = value(id);
    const int parts = loop::info_of(v.combine).parts;
    const auto loop = out_.block("for (i64 j = 0; j < c1 - c0; j += v::L) {");
    for (int part = 0; part < parts; ++part) {
      const Dtype t = loop::part_dtype(v, part);
      out_.format_line("{} r{} = v::load(({}*)(team->partials + ({} * team->parts) * {}) + j);", vector_type(t), part,
                       memory_type(t), split_slots_ + slot + part, s_.chunk + lanes_);
    }
    {
      const auto merge = out_.block("for (i64 part = 1; part < team->parts; part++) {");
      for (int part = 0; part < parts; ++part) {
        const Dtype t = loop::part_dtype(v, part);
        out_.format_line("const {} x{} = v::load(({}*)(team->partials + ({} * team->parts + part) * {}) + j);",
                         vector_type(t), part, memory_type(t), split_slots_ + slot + part, s_.chunk + lanes_);
      }
      out_.line(merge_text(v, "r0", "r1", "r2", "x0", "x1", "x2"));
    }
    for (int part = 0; part < parts; ++part)
      out_.format_line("v::store(au{}{} + j, r{});", id, part_suffix(part), part);
    slot += parts;
  }
  split_slots_ += slot;
}

// A statement that merges the tuple x into a, lane by lane.
std::string KernelEmitter::merge_text(const Value& v, std::string_view a0, std::string_view a1, std::string_view a2,
                                      std::string_view x0, std::string_view x1, std::string_view x2) const {
  switch (v.combine) {
    case CombineOp::argmax:
      return format("v::argmax_merge_lanes({}, {}, {}, {});", a0, a1, x0, x1);
    case CombineOp::argmin:
      return format("v::argmin_merge_lanes({}, {}, {}, {});", a0, a1, x0, x1);
    case CombineOp::welford:
      return format("v::welford_merge({}, {}, {}, {}, {}, {});", a0, a1, a2, x0, x1, x2);
    case CombineOp::online_softmax:
      return format("v::softmax_merge({}, {}, {}, {});", a0, a1, x0, x1);
    default:
      return format("{} = {};", a0, combine_text(v.combine, v.dtype, a0, x0));
  }
}

// One element more for every lane: combine and scan.
void KernelEmitter::update_array(const Site& site, ValueId id) {
  const Value& v = value(id);
  const int parts = loop::info_of(v.combine).parts;
  std::string x[3];
  for (int i = 0; i < 3; ++i) {
    const ValueId arg = v.args[static_cast<std::size_t>(i)];
    if (arg == kNoValue) continue;
    const Dtype t = loop::part_dtype(v, i);
    x[i] = cast_text(ref(arg, true), value(arg).dtype, t, true);
  }
  const std::string name = format("{}{}", v.op == ScalarOp::scan ? "v" : "a", id);
  for (int part = 0; part < parts; ++part)
    out_.format_line("{} {}{} = v::load({});", vector_type(loop::part_dtype(v, part)), name, part_suffix(part),
                     element(site, format("au{}{}", id, part_suffix(part))));
  const std::string a1 = name + "_1", a2 = name + "_2";
  if (v.combine == CombineOp::welford && v.args[1] == kNoValue) {
    out_.format_line("v::welford_add({}, {}, {}, w{});", name, a1, x[0], id);
    out_.format_line("{0} = v::splat<{1}>(({1})n{2}_seen);", a2, register_type(v.dtype), id);
  } else if (v.combine == CombineOp::online_softmax && v.args[1] == kNoValue) {
    out_.format_line("v::softmax_add({}, {}, {});", name, a1, x[0]);
  } else {
    out_.line(merge_text(v, name, a1, a2, x[0], x[1], x[2]));
  }
  for (int part = 0; part < parts; ++part)
    out_.format_line("v::store({}, {}{});", element(site, format("au{}{}", id, part_suffix(part))), name,
                     part_suffix(part));
}

// Values of earlier phases that this phase uses and that vary over the chunk.
void KernelEmitter::load_unit_values(const Site& site) {
  std::set<ValueId> wanted;
  auto want = [&](ValueId v) {
    if (v == kNoValue) return;
    if (v < site.phase->begin && array_[static_cast<std::size_t>(v)]) wanted.insert(v);
  };
  auto want_symbols = [&](Expr e) {
    if (!e) return;
    for (Expr s : symbolic::symbols_of(e))
      if (const auto it = bounded_.find(s); it != bounded_.end()) want(it->second);
  };
  for (ValueId v = site.phase->begin; v < site.phase->end; ++v) {
    for (ValueId a : value(v).args) want(a);
    want_symbols(value(v).index);
  }
  for (const Store& s : site.phase->stores) {
    want(s.value);
    want_symbols(s.index);
  }
  std::set<std::string> done;
  for (ValueId id : wanted) {
    const Value& v = value(id);
    const bool part = v.op == ScalarOp::part;
    const std::string name = format("{}{}", part ? v.args[0] : id, part ? part_suffix(v.part) : "");
    if (!done.insert(name).second) continue;
    out_.format_line("const {} v{} = v::load({});", vector_type(v.dtype), name, element(site, "au" + name));
    if (v.op == ScalarOp::bounded)
      out_.format_line("const i64* const x{} = {};", id, element(site, format("ux{}", id)));
  }
}

// A value of a phase without inner axes that later phases use.
void KernelEmitter::keep_unit_value(const Site& site, ValueId id) {
  const Value& v = value(id);
  declare_array(format("au{}", id), memory_type(v.dtype), s_.chunk);
  out_.format_line("v::store({}, v{});", element(site, format("au{}", id)), id);
  if (v.op != ScalarOp::bounded) return;
  declare_array(format("ux{}", id), "i64", s_.chunk);
  out_.format_line("v::store({}, v::load(x{}));", element(site, format("ux{}", id)), id);
}

}  // namespace stax::codegen
