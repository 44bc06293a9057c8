// Inclusive scans of the inner form: a prefix within the vector, a carry from vector to vector.
#include <fmt/format.h>

#include "codegen/cpp/kernel_emitter.h"

namespace stax::codegen {

using fmt::format;

namespace {

std::string_view lane_operator(CombineOp op, Dtype t) {
  switch (op) {
    case CombineOp::sum:
      return "v::op_sum";
    case CombineOp::prod:
      return "v::op_prod";
    case CombineOp::max:
      return t == Dtype::boolean ? "v::op_or" : "v::op_max";
    case CombineOp::min:
      return t == Dtype::boolean ? "v::op_and" : "v::op_min";
    case CombineOp::any:
      return "v::op_or";
    case CombineOp::all:
      return "v::op_and";
    default:
      return "";
  }
}

}  // namespace

void KernelEmitter::declare_carries(const Site& site) {
  if (s_.vector_axis >= 0) return;
  for (ValueId id = site.phase->begin; id < site.phase->end; ++id) {
    const Value& v = value(id);
    if (v.op != ScalarOp::scan) continue;
    const auto type = register_type(v.dtype);
    if (v.combine == CombineOp::welford) {
      out_.format_line("{1} c{0} = 0, c{0}_1 = 0, c{0}_2 = 0;", id, type);
      continue;
    }
    if (!lane_operator(v.combine, v.dtype).empty()) {
      out_.format_line("{} c{} = {};", vector_type(v.dtype), id, identity_vector(v.combine, v.dtype));
      continue;
    }
    out_.format_line("{} c{} = {};", type, id, literal(identity_bits(v.combine, v.dtype), v.dtype));
    if (v.combine == CombineOp::online_softmax) out_.format_line("{} c{}_1 = 0;", type, id);
    if (v.combine == CombineOp::argmax || v.combine == CombineOp::argmin)
      out_.format_line("i64 c{}_1 = __LONG_MAX__;", id);
  }
}

void KernelEmitter::emit_scan(const Site& site, ValueId id, const Copy& copy) {
  if (s_.vector_axis >= 0) return update_array(site, id);
  const Value& v = value(id);
  const Dtype t = v.dtype;
  const std::string x = cast_text(ref(v.args[0], true), value(v.args[0]).dtype, t, true);
  if (const auto op = lane_operator(v.combine, t); !op.empty()) {
    const std::string identity = identity_vector(v.combine, t);
    const std::string active = copy.partial ? format("v::select(v::first(n), {}, {})", x, identity) : x;
    const std::string lanes = format("v::scan_lanes<{}, {}>({}, {})", op, v.reverse, active, identity);
    const std::string carry = format("c{}", id);
    out_.format_line("const {} v{} = {};", vector_type(t), id,
                     v.reverse ? combine_text(v.combine, t, lanes, carry) : combine_text(v.combine, t, carry, lanes));
    out_.format_line("c{0} = v::spread<{1}>(v{0});", id, v.reverse ? "0" : "v::L - 1");
    return;
  }
  // Tuples: one lane after the other.
  const int parts = loop::info_of(v.combine).parts;
  for (int part = 0; part < parts; ++part) {
    const Dtype pt = loop::part_dtype(v, part);
    const ValueId arg = v.args[static_cast<std::size_t>(part)];
    out_.format_line("alignas(64) {} s{}_{}[v::L] = {{}};", register_type(pt), id, part);
    if (arg != kNoValue)
      out_.format_line("v::store(s{}_{}, {});", id, part, cast_text(ref(arg, true), value(arg).dtype, pt, true));
  }
  const bool single = v.args[1] == kNoValue;
  const std::string last = copy.partial ? "n" : "v::L";
  {
    const auto loop = out_.block(v.reverse ? format("for (i64 l = {} - 1; l >= 0; l--) {{", last)
                                           : format("for (i64 l = 0; l < {}; l++) {{", last));
    const auto type = register_type(t);
    if (v.combine == CombineOp::welford)
      out_.format_line("v::welford_merge_one<{1}>(c{0}, c{0}_1, c{0}_2, s{0}_0[l], {2}, {3});", id, type,
                       single ? format("s{0}_0[l] - s{0}_0[l]", id) : format("s{}_1[l]", id),
                       single ? "1" : format("s{}_2[l]", id));
    else if (v.combine == CombineOp::online_softmax)
      out_.format_line("v::softmax_merge_one<{1}>(c{0}, c{0}_1, s{0}_0[l], {2});", id, type,
                       single ? "1" : format("s{}_1[l]", id));
    else
      out_.format_line("v::{2}_merge<{1}, i64>(c{0}, c{0}_1, s{0}_0[l], s{0}_1[l]);", id, type,
                       v.combine == CombineOp::argmax ? "argmax" : "argmin");
    for (int part = 0; part < parts; ++part)
      out_.format_line("s{0}_{1}[l] = c{0}{2};", id, part, part == 0 ? "" : format("_{}", part));
  }
  for (int part = 0; part < parts; ++part)
    out_.format_line("const {} v{}{} = v::load(s{}_{});", vector_type(loop::part_dtype(v, part)), id,
                     part == 0 ? "" : format("_{}", part), id, part);
}

}  // namespace stax::codegen
