// Reductions of the inner form: vector accumulators, their totals over blocks, the result of a row.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/common/same_value.h"
#include "codegen/cpp/kernel_emitter.h"

namespace stax::codegen {

using fmt::format;

namespace {
constexpr std::int64_t kBlock = 4096;  // elements of a block that is read twice
}

std::vector<ValueId> KernelEmitter::combines_of(const Phase& p) const {
  std::vector<ValueId> ids;
  for (ValueId v = p.begin; v < p.end; ++v)
    if (value(v).op == ScalarOp::combine) ids.push_back(v);
  return ids;
}

KernelEmitter::Form KernelEmitter::form_of(const Value& v) const {
  switch (v.combine) {
    case CombineOp::argmax:
    case CombineOp::argmin:
      return Form::arg;
    case CombineOp::welford:
    case CombineOp::online_softmax:
      return v.args[1] == kNoValue ? Form::block : Form::tuple;
    default:
      return Form::lanes;
  }
}

std::string KernelEmitter::combine_text(CombineOp op, Dtype t, std::string_view a, std::string_view b) const {
  switch (op) {
    case CombineOp::sum:
      return format("{} + {}", a, b);
    case CombineOp::prod:
      return format("{} * {}", a, b);
    case CombineOp::max:
      return t == Dtype::boolean ? format("{} | {}", a, b) : format("v::max({}, {})", a, b);
    case CombineOp::min:
      return t == Dtype::boolean ? format("{} & {}", a, b) : format("v::min({}, {})", a, b);
    case CombineOp::any:
      return format("{} | {}", a, b);
    case CombineOp::all:
      return format("{} & {}", a, b);
    default:
      throw InternalError("a combine of tuples has no expression");
  }
}

// Extrema of floats pass over NaN and notice it in flags of their own: two operations an element less.
bool KernelEmitter::is_flagged(const Value& v) {
  return v.dtype == Dtype::f32 && (v.combine == CombineOp::max || v.combine == CombineOp::min);
}

std::string KernelEmitter::lanes_text(const Value& v, std::string_view a, std::string_view b) const {
  return is_flagged(v) ? format("v::ordered_{}({}, {})", loop::info_of(v.combine).name, a, b)
                       : combine_text(v.combine, v.dtype, a, b);
}

std::string KernelEmitter::scalar_combine_text(CombineOp op, Dtype t, std::string_view a, std::string_view b) const {
  if (t != Dtype::boolean && op == CombineOp::max) return format("v::scalar_max({}, {})", a, b);
  if (t != Dtype::boolean && op == CombineOp::min) return format("v::scalar_min({}, {})", a, b);
  return combine_text(op, t, a, b);
}

std::uint64_t KernelEmitter::identity_bits(CombineOp op, Dtype t) const {
  switch (op) {
    case CombineOp::prod: {
      if (t == Dtype::f32) return 0x3f800000U;
      if (t == Dtype::f64) return 0x3ff0000000000000U;
      return 1;
    }
    case CombineOp::max:
    case CombineOp::argmax:
    case CombineOp::online_softmax:
      return extreme_bits(t, false);
    case CombineOp::min:
    case CombineOp::argmin:
      return extreme_bits(t, true);
    case CombineOp::all:
      return 1;
    default:
      return 0;
  }
}

std::string KernelEmitter::identity_vector(CombineOp op, Dtype t) const {
  return splat(t, literal(identity_bits(op, t), t));
}

// Whether the value is the position along the only inner axis: it grows with the loop.
bool KernelEmitter::is_row_index(const Site& site, ValueId v) const {
  return site.phase->inner.size() == 1 && value(v).op == ScalarOp::index && value(v).index == site.axis;
}

// Float sums in blocks keep the error bound at (block/lanes + blocks) ulps; tuples need their block's values twice.
bool KernelEmitter::is_blocked(const Site& site) const {
  for (ValueId v : combines_of(*site.phase)) {
    if (form_of(value(v)) == Form::block) return true;
    if (value(v).combine == CombineOp::sum && is_floating(value(v).dtype)) return true;
  }
  return false;
}

std::int64_t KernelEmitter::block_length(const Site& site) const {
  for (ValueId v : combines_of(*site.phase))
    if (form_of(value(v)) == Form::block) return kBlock;
  return 4 * kBlock;
}

// t…: results over the blocks seen so far.
void KernelEmitter::declare_totals(const Site& site) {
  for (ValueId id : combines_of(*site.phase)) {
    const Value& v = value(id);
    const std::string init = format("t{} = {}", id, identity_vector(v.combine, v.dtype));
    switch (form_of(v)) {
      case Form::lanes:
        out_.format_line("{} {};", vector_type(v.dtype), init);
        if (is_flagged(v)) out_.format_line("v::nan_flags nan{} = {{}};", id);
        break;
      case Form::arg:
        out_.format_line("{} {};", vector_type(v.dtype), init);
        out_.format_line("i64v t{}_1 = v::splat<i64>(__LONG_MAX__);", id);
        break;
      case Form::block:
        if (v.combine == CombineOp::welford)
          out_.format_line("f64 t{0} = 0, t{0}_1 = 0, t{0}_2 = 0;", id);
        else
          out_.format_line("{1} t{0} = {2}, t{0}_1 = 0;", id, register_type(v.dtype),
                           literal(identity_bits(v.combine, v.dtype), v.dtype));
        break;
      case Form::tuple:
        out_.format_line("{} {}, t{}_1 = {{}}{};", vector_type(v.dtype), init, id,
                         v.combine == CombineOp::welford ? format(", t{}_2 = {{}}", id) : "");
        break;
    }
  }
}

// a…_u: accumulators of one block, one set a copy.
void KernelEmitter::declare_accumulators(const Site& site) {
  const int unroll = s_.phases[static_cast<std::size_t>(site.number)].unroll;
  for (ValueId id : combines_of(*site.phase)) {
    const Value& v = value(id);
    const Form form = form_of(v);
    if (form == Form::tuple) continue;  // merged into the totals at once
    if (form == Form::block && (block_in_memory(site, v).empty() || keeps_weights(id)))
      declare_array(format("w{}", id), register_type(v.dtype), block_length(site));
    const bool welford = v.combine == CombineOp::welford;
    if (form == Form::lanes && is_flagged(v) && unroll > 1) out_.format_line("f32v other{} = {{}};", id);
    for (int u = 0; u < unroll; ++u) {
      out_.format_line("{} a{}_{} = {};", vector_type(v.dtype), id, u,
                       welford ? "{}" : identity_vector(v.combine, v.dtype));
      if (form == Form::arg)
        out_.line(is_row_index(site, v.args[1]) ? format("i64v a{0}_{1}_1 = v::splat<i64>({2}) + v::iota<i64>();", id,
                                                         u, format("{} + {}", site.lo.back(), u * lanes_))
                                                : format("i64v a{}_{}_1 = v::splat<i64>(__LONG_MAX__);", id, u));
    }
  }
}

void KernelEmitter::update_accumulator(const Site& site, ValueId id, const Copy& copy) {
  const Value& v = value(id);
  std::string x = ref(v.args[0], true);
  if (value(v.args[0]).dtype != v.dtype) x = cast_text(x, value(v.args[0]).dtype, v.dtype, true);
  const std::string a = format("a{}_{}", id, copy.number);
  const std::string identity = identity_vector(v.combine, v.dtype);
  auto active = [&](const std::string& text, const std::string& other) {
    return copy.partial ? format("v::select(v::first(n), {}, {})", text, other) : text;
  };
  switch (form_of(v)) {
    case Form::lanes: {
      out_.format_line("{} = {};", a, lanes_text(v, a, active(x, identity)));
      if (!is_flagged(v)) return;
      const int unroll = s_.phases[static_cast<std::size_t>(site.number)].unroll;
      const bool second = copy.number % 2 == 1;
      if (!copy.partial && !second && copy.number + 1 < unroll)
        out_.format_line("other{} = {};", id, x);
      else
        out_.format_line("nan{0} |= v::unordered({1}, {2});", id, second ? format("other{}", id) : active(x, identity),
                         active(x, identity));
      return;
    }
    case Form::arg: {
      const std::string name = v.combine == CombineOp::argmax ? "argmax" : "argmin";
      const std::string at = cast_text(ref(v.args[1], true), value(v.args[1]).dtype, Dtype::i64, true);
      out_.format_line("v::{}_{}({}, {}_1, {}, {});", name, is_row_index(site, v.args[1]) ? "update" : "merge_lanes", a,
                       a, active(x, identity),
                       is_row_index(site, v.args[1]) ? at : active(at, "v::splat<i64>(__LONG_MAX__)"));
      return;
    }
    case Form::block:
      if (block_in_memory(site, v).empty())
        out_.format_line("v::store(w{} + ({} - block), {});", id, position(site), x);
      if (v.combine == CombineOp::welford)
        out_.format_line("{0} = {0} + {1};", a, active(x, format("{}{{}}", vector_type(v.dtype))));
      else
        out_.format_line("{0} = v::larger({1}, {0});", a, active(x, identity));
      return;
    case Form::tuple: {
      const std::string zero = format("{}{{}}", vector_type(v.dtype));
      if (v.combine == CombineOp::welford)
        out_.format_line("v::welford_merge(t{0}, t{0}_1, t{0}_2, {1}, {2}, {3});", id, active(x, zero),
                         active(ref(v.args[1], true), zero), active(ref(v.args[2], true), zero));
      else
        out_.format_line("v::softmax_merge(t{0}, t{0}_1, {1}, {2});", id, active(x, identity),
                         active(ref(v.args[1], true), zero));
      return;
    }
  }
}

// Where the operand of a blocked combine lies as it is, from the start of the block; empty: it is computed, or a store
// of the phase may overwrite it before the second pass.
std::string KernelEmitter::block_in_memory(const Site& site, const Value& combine) const {
  const ValueId id = combine.args[0];
  const Value& v = value(id);
  if (v.op != ScalarOp::load || !is_vector(id) || v.dtype != combine.dtype || !site.phase->stores.empty()) return "";
  if (p_.buffers[static_cast<std::size_t>(v.buffer)].dtype != v.dtype || kept_.contains(id)) return "";
  const Address a = address_of(site, v.index);
  return a.kind == Address::unit && a.level < site.depth() ? format("p{} + block", id) : "";
}

bool KernelEmitter::keeps_weights(ValueId combine) const { return rows_.contains(combine); }

// Rows that hold values for later phases. The operand of a blocked combine is buffered already.
void KernelEmitter::find_kept_rows() {
  for (const loop::KeptValue& kept : s_.keep) {
    const Phase& p = k_.phases[static_cast<std::size_t>(loop::phase_of(k_, kept.value))];
    STAX_CHECK(p.inner.size() == 1, format("kernel {}: %{} is of no row", k_.name, kept.value));
    // The same along the row: nothing to keep.
    if (Levels(k_, p, {p.inner[0].var}, [](ValueId) { return 0; }).of(kept.value) == 0) continue;
    Kept row{format("keep{}", kept.value), p.inner[0].extent, kept.limit, readers_of_kept(k_, kept.value)};
    if (value(kept.value).op == ScalarOp::combine) {
      row.row = format("w{}", kept.value);
      row.limit = std::min(row.limit, kBlock);
    }
    if (!row.readers.empty()) rows_.emplace(kept.value, row);
  }
}

void KernelEmitter::keep_row_value(const Site& site, ValueId id) {
  const auto it = rows_.find(id);
  if (it == rows_.end() || value(id).op == ScalarOp::combine) return;
  const Kept& row = it->second;
  declare_array(row.row, memory_type(value(id).dtype), row.limit);
  out_.format_line("if ({} <= {}) v::store({} + {}, v{});", text_of(row.extent), row.limit, row.row, position(site),
                   id);
}

// The accumulators of a block into the totals.
void KernelEmitter::fold_accumulators(const Site& site) {
  const int unroll = s_.phases[static_cast<std::size_t>(site.number)].unroll;
  for (ValueId id : combines_of(*site.phase)) {
    const Value& v = value(id);
    const Form form = form_of(v);
    if (form == Form::tuple) continue;
    if (form == Form::arg) {
      for (int u = 0; u < unroll; ++u)
        out_.format_line("v::{2}_merge_lanes(t{0}, t{0}_1, a{0}_{1}, a{0}_{1}_1);", id, u,
                         v.combine == CombineOp::argmax ? "argmax" : "argmin");
      continue;
    }
    const bool welford = v.combine == CombineOp::welford;
    for (int step = 1; step < unroll; step *= 2)  // pairwise
      for (int u = 0; u + step < unroll; u += 2 * step) {
        const std::string a = format("a{}_{}", id, u), b = format("a{}_{}", id, u + step);
        const std::string both = form != Form::block ? lanes_text(v, a, b)
                                 : welford           ? combine_text(CombineOp::sum, v.dtype, a, b)
                                                     : format("v::larger({}, {})", b, a);
        out_.format_line("{} = {};", a, both);
      }
    if (form == Form::lanes)
      out_.format_line("t{0} = {1};", id, lanes_text(v, format("t{}", id), format("a{}_0", id)));
    else {
      const std::string memory = block_in_memory(site, v), staged = format("w{}", id);
      const std::string from = memory.empty() ? staged : memory;
      if (welford)
        out_.format_line("v::welford_block({1}, block_end - block, a{0}_0, t{0}, t{0}_1, t{0}_2);", id, from);
      else
        out_.format_line("v::softmax_block({1}, {2}, block_end - block, a{0}_0, t{0}, t{0}_1);", id, from,
                         keeps_weights(id) ? staged : "v::nowhere");
    }
  }
}

// v…: the results as single values of the unit.
void KernelEmitter::finish_totals(const Site& site) {
  for (ValueId id : combines_of(*site.phase)) {
    const Value& v = value(id);
    const auto type = register_type(v.dtype);
    switch (form_of(v)) {
      case Form::lanes:
        if (v.dtype == Dtype::boolean)
          out_.format_line("const bool v{0} = v::{1}(t{0});", id,
                           v.combine == CombineOp::all || v.combine == CombineOp::min ? "all" : "any");
        else
          out_.format_line("const {1} v{0} = v::h{2}(t{0}{3});", id, type, loop::info_of(v.combine).name,
                           is_flagged(v) ? format(", nan{}", id) : "");
        break;
      case Form::arg:
        out_.format_line("{1} v{0}; i64 v{0}_1;", id, type);
        out_.format_line("v::{1}_lanes(t{0}, t{0}_1, v::L, v{0}, v{0}_1);", id,
                         v.combine == CombineOp::argmax ? "argmax" : "argmin");
        break;
      case Form::block:
        for (int part = 0; part < loop::info_of(v.combine).parts; ++part) {
          const std::string suffix = part == 0 ? "" : format("_{}", part);
          out_.format_line("const {0} v{1}{2} = ({0})t{1}{2};", type, id, suffix);
        }
        break;
      case Form::tuple:
        if (v.combine == CombineOp::welford)
          out_.format_line("{1} v{0}, v{0}_1, v{0}_2; v::welford_lanes(t{0}, t{0}_1, t{0}_2, v{0}, v{0}_1, v{0}_2);",
                           id, type);
        else
          out_.format_line("{1} v{0}, v{0}_1; v::softmax_lanes(t{0}, t{0}_1, v{0}, v{0}_1);", id, type);
        break;
    }
  }
}

// The results of one part of a team, for all threads to see.
void KernelEmitter::publish_totals(const Site& site) {
  finish_totals(site);
  int slot = split_slots_;
  for (ValueId id : combines_of(*site.phase)) {
    const Value& v = value(id);
    for (int part = 0; part < loop::info_of(v.combine).parts; ++part)
      out_.format_line("v::put(team->partials + ({} * team->parts + part) * 8 + {}, {}{}{});", slot, part,
                       v.combine == CombineOp::welford && form_of(v) == Form::block ? "t" : "v", id,
                       part == 0 ? "" : format("_{}", part));
    ++slot;
  }
}

// Every thread merges all parts, in their order: the result depends on their number alone.
void KernelEmitter::merge_team_totals(const Site& site) {
  for (ValueId id : combines_of(*site.phase)) {
    const Value& v = value(id);
    const int parts = loop::info_of(v.combine).parts;
    const bool wide = v.combine == CombineOp::welford && form_of(v) == Form::block;
    std::string x[3];
    for (int part = 0; part < parts; ++part) {
      const auto type = wide ? "f64" : register_type(loop::part_dtype(v, part));
      const bool index = part == 1 && loop::part_dtype(v, 1) == Dtype::i64 && parts == 2;
      out_.format_line("{} r{}_{} = {};", type, id, part,
                       index              ? "__LONG_MAX__"
                       : part > 0 || wide ? "0"
                                          : literal(identity_bits(v.combine, v.dtype), v.dtype));
      x[part] = format("v::get<{}>(team->partials + ({} * team->parts + part) * 8 + {})", type, split_slots_, part);
    }
    ++split_slots_;
    {
      const auto loop = out_.block("for (i64 part = 0; part < team->parts; part++) {");
      const auto type = wide ? "f64" : register_type(v.dtype);
      switch (v.combine) {
        case CombineOp::welford:
          out_.format_line("v::welford_merge_one<{1}>(r{0}_0, r{0}_1, r{0}_2, {2}, {3}, {4});", id, type, x[0], x[1],
                           x[2]);
          break;
        case CombineOp::online_softmax:
          out_.format_line("v::softmax_merge_one<{1}>(r{0}_0, r{0}_1, {2}, {3});", id, type, x[0], x[1]);
          break;
        case CombineOp::argmax:
        case CombineOp::argmin:
          out_.format_line("v::{4}_merge<{1}, i64>(r{0}_0, r{0}_1, {2}, {3});", id, type, x[0], x[1],
                           loop::info_of(v.combine).name);
          break;
        default:
          out_.format_line("r{0}_0 = {1};", id, scalar_combine_text(v.combine, v.dtype, format("r{}_0", id), x[0]));
      }
    }
    for (int part = 0; part < parts; ++part)
      out_.format_line("const {0} v{1}{3} = ({0})r{1}_{2};", register_type(loop::part_dtype(v, part)), id, part,
                       part == 0 ? "" : format("_{}", part));
  }
}

}  // namespace stax::codegen
