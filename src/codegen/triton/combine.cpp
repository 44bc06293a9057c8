// Reductions and scans: whole blocks, or accumulators of a block that are merged when the loop has ended.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/triton/kernel_emitter.h"
#include "codegen/triton/spelling.h"

namespace stax::codegen {

using fmt::format;

namespace {

// Where the whole block is at hand, two passes over it are exact and cost less than merging tuples.
bool has_two_passes(const Value& v) {
  return (v.combine == CombineOp::welford || v.combine == CombineOp::online_softmax) && v.args[1] == kNoValue;
}

// A sum begins with +0.0, so that of nothing but -0.0 is +0.0 in every form; a tree over the elements alone is not.
const char* begun(const Value& v) { return v.combine == CombineOp::sum && is_floating(v.dtype) ? " + 0.0" : ""; }

std::string list(const std::vector<std::string>& names) { return format("{}", fmt::join(names, ", ")); }
std::string tuple_of(const std::vector<std::string>& names) {
  return names.size() == 1 ? names[0] : "(" + list(names) + ")";
}

}  // namespace

std::string TritonEmitter::combine_function(CombineOp op) const {
  switch (op) {
    case CombineOp::sum:
      return "stax_add";
    case CombineOp::prod:
      return "stax_mul";
    case CombineOp::max:
      return "stax_max";
    case CombineOp::min:
      return "stax_min";
    case CombineOp::argmax:
      return "stax_argmax";
    case CombineOp::argmin:
      return "stax_argmin";
    case CombineOp::any:
      return "stax_or";
    case CombineOp::all:
      return "stax_and";
    case CombineOp::welford:
      return "stax_welford";
    case CombineOp::online_softmax:
      return "stax_softmax";
  }
  throw InternalError("unknown combine operator");
}

std::vector<std::string> TritonEmitter::part_names(ValueId id, const std::string& prefix) const {
  std::vector<std::string> names{format("{}{}", prefix, id)};
  for (int i = 1; i < loop::info_of(value(id).combine).parts; ++i) names.push_back(format("{}{}_{}", prefix, id, i));
  return names;
}

// Truth values are reduced as 32-bit integers.
std::string TritonEmitter::type_of_part(const Value& v, int part) const {
  const Dtype t = loop::part_dtype(v, part);
  return t == Dtype::boolean ? "tl.int32" : std::string(triton_type(t));
}

std::vector<std::string> TritonEmitter::operands(const Site& site, const Value& v) {
  std::vector<std::string> x;
  for (ValueId a : v.args) {
    if (a == kNoValue) continue;
    std::string text = broadcast(site, a);
    if (value(a).dtype == Dtype::boolean) text = format("{}.to(tl.int32)", text);
    x.push_back(text);
  }
  if (v.combine == CombineOp::welford && x.size() == 1) {
    x.push_back(format("{0} - {0}", x[0]));  // NaN for an infinite element
    x.push_back(format("tl.full({}, 1.0, {})", shape_of(site, site.full), triton_type(v.dtype)));
  }
  // NaN and infinity weigh NaN: a merge makes that of them, but the first element of a scan meets none.
  if (v.combine == CombineOp::online_softmax && x.size() == 1)
    x.push_back(v.op == ScalarOp::scan ? format("tl.where({0} == float(\"-inf\"), 0.0, {0} - {0} + 1.0)", x[0])
                                       : format("({} != float(\"-inf\")).to({})", x[0], triton_type(v.dtype)));
  return x;
}

std::vector<std::string> TritonEmitter::identities(const Value& v) const {
  auto low = [&](bool largest) { return triton_literal(triton_extreme(v.dtype, largest), v.dtype); };
  const std::string none = "tl.full([], 9223372036854775807, tl.int64)";
  auto number = [&](int n) { return format("tl.full([], {}, {})", n, type_of_part(v, 0)); };
  switch (v.combine) {
    case CombineOp::sum:
    case CombineOp::any:
      return {number(0)};
    case CombineOp::prod:
    case CombineOp::all:
      return {number(1)};
    case CombineOp::max:
      return {v.dtype == Dtype::boolean ? number(0) : low(false)};
    case CombineOp::min:
      return {v.dtype == Dtype::boolean ? number(1) : low(true)};
    case CombineOp::argmax:
      return {low(false), none};
    case CombineOp::argmin:
      return {low(true), none};
    case CombineOp::welford:
      return {number(0), number(0), number(0)};
    case CombineOp::online_softmax:
      return {low(false), number(0)};
  }
  throw InternalError("unknown combine operator");
}

// Lanes beyond the end hold the identity.
std::vector<std::string> TritonEmitter::masked(const Site& site, const Value& v, std::vector<std::string> x) {
  const auto mask = rmask_.find(site.number);
  if (mask == rmask_.end()) return x;
  const auto identity = identities(v);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = format("tl.where({}, {}, {})", mask->second, x[i], identity[i]);
  return x;
}

// Loads keep Triton's layout pass from computing a block in the layout of the row's value, every lane all of the row.
// Without any, a scalar in between does.
bool TritonEmitter::reduces_to_scalar(const Site& site) const {
  const auto begin = k_.values.begin();
  return s_.x_block == 1 && std::none_of(begin + site.phase->begin, begin + site.phase->end,
                                         [](const Value& v) { return v.op == ScalarOp::load; });
}

// Of one part of the type `type`, as the row's value.
std::string TritonEmitter::row_value(const Site& site, const std::string& x, const char* function,
                                     std::string_view type) const {
  if (!reduces_to_scalar(site)) return format("tl.reduce({}, 1, {}, keep_dims=True)", x, function);
  return format("tl.full([XBLOCK, 1], tl.reduce(tl.reshape({}, [{}]), 0, {}), {})", x, block_name(site.number),
                function, type);
}

void TritonEmitter::emit_reduce(const Site& site, ValueId id, std::vector<std::string> x) {
  const Value& v = value(id);
  const auto names = part_names(id, "v");
  const std::string function = combine_function(v.combine), comment(loop::info_of(v.combine).name);
  const char* end = v.dtype == Dtype::boolean ? " != 0" : begun(v);
  if (x.size() == 1)
    return line(format("{} = {}{}", names[0], row_value(site, x[0], function.c_str(), type_of_part(v, 0)), end),
                note(v) + " " + comment);
  if (!reduces_to_scalar(site))
    return line(format("{} = tl.reduce({}, 1, {}, keep_dims=True){}", list(names), tuple_of(x), function, end),
                note(v) + " " + comment);
  for (std::string& part : x) part = format("tl.reshape({}, [{}])", part, block_name(site.number));
  const auto scalars = part_names(id, "s");
  line(format("{} = tl.reduce({}, 0, {})", list(scalars), tuple_of(x), function), note(v) + " " + comment);
  for (std::size_t i = 0; i < names.size(); ++i)
    out_.format_line("{} = tl.full([XBLOCK, 1], {}, {})", names[i], scalars[i], type_of_part(v, static_cast<int>(i)));
}

void TritonEmitter::emit_two_pass(const Site& site, ValueId id) {
  const Value& v = value(id);
  const std::string x = format("e{}", id);
  const std::string type(triton_type(v.dtype));
  line(format("{} = {}", x, broadcast(site, v.args[0])), note(v) + " " + std::string(loop::info_of(v.combine).name));
  const auto mask = rmask_.find(site.number);
  auto only = [&](const std::string& text, const std::string& otherwise) {
    return mask == rmask_.end() ? text : format("tl.where({}, {}, {})", mask->second, text, otherwise);
  };
  if (v.combine == CombineOp::online_softmax) {
    out_.format_line(
        "v{} = {}", id,
        row_value(site, only(x, triton_literal(triton_extreme(v.dtype, false), v.dtype)), "stax_max", type));
    // A row of -inf weighs nothing; elsewhere -inf does by itself.
    out_.format_line(
        "w{} = {}", id,
        row_value(site, only(format("libdevice.exp({} - v{})", x, id), format("tl.full([], 0.0, {})", type)),
                  "stax_add", type));
    out_.format_line("v{0}_1 = tl.where(v{0} == float(\"-inf\"), tl.full([], 0.0, {1}), w{0})", id, type);
    return;
  }
  const std::string zero = format("tl.full([], 0.0, {})", type);
  const Expr length = loop::length_of(*site.phase, p_);
  if (const auto c = length.constant())
    out_.format_line("v{}_2 = tl.full([XBLOCK, 1], {}.0, {})", id, *c, type);
  else
    out_.format_line("v{}_2 = tl.broadcast_to(({}).to({}), [XBLOCK, 1])", id, bare(length), type);
  out_.format_line("count{0} = v{0}_2 + (v{0}_2 == 0).to({1})", id, type);
  out_.format_line("v{0} = stax_div({1} + 0.0, count{0})", id, row_value(site, only(x, zero), "stax_add", type));
  out_.format_line("d{0} = {1} - v{0}", id, x);
  out_.format_line("v{}_1 = {}", id, row_value(site, only(format("d{0} * d{0}", id), zero), "stax_add", type));
}

void TritonEmitter::emit_combine(const Site& site, ValueId id) {
  const Value& v = value(id);
  if (has_two_passes(v)) return emit_two_pass(site, id);
  const std::vector<std::string> x = masked(site, v, operands(site, v));
  if (s_.phases[static_cast<std::size_t>(site.number)].block > 1) return emit_reduce(site, id, x);
  // A reduction of one element gives the element; Triton's layout pass fails on some.
  const auto names = part_names(id, "v");
  for (std::size_t i = 0; i < names.size(); ++i)
    line(fmt::format("{} = {}{}", names[i], x[i], v.dtype == Dtype::boolean ? " != 0" : begun(v)),
         note(v) + " " + std::string(loop::info_of(v.combine).name));
}

void TritonEmitter::emit_scan(const Site& site, ValueId id) {
  const Value& v = value(id);
  const bool truth = v.dtype == Dtype::boolean, looped = site.form == InnerForm::looped;
  std::vector<std::string> x = masked(site, v, operands(site, v));
  const auto names = part_names(id, "v"), carries = part_names(id, "c");
  std::vector<std::string> inputs;
  if (looped) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      inputs.push_back(format("e{}_{}", id, i));
      out_.format_line("{} = {}", inputs.back(), x[i]);
    }
  } else {
    inputs = x;
  }
  // Triton fails on a scan of one element, which gives the element.
  if (!looped && s_.phases[static_cast<std::size_t>(site.number)].block == 1) {
    for (std::size_t i = 0; i < names.size(); ++i) line(format("{} = {}{}", names[i], inputs[i], begun(v)), note(v));
    if (truth) out_.format_line("{0} = {0} != 0", names[0]);
    return;
  }
  line(format("{} = tl.associative_scan({}, 1, {}, reverse={}){}", list(names), tuple_of(inputs),
              combine_function(v.combine), v.reverse ? "True" : "False", begun(v)),
       note(v) + " " + std::string(loop::info_of(v.combine).name));
  if (looped) {
    out_.format_line("{} = {}({}, {})", list(names), combine_function(v.combine), list(carries), list(names));
    const auto totals = part_names(id, "t");
    out_.format_line("{} = tl.reduce({}, 1, {}, keep_dims=True)", list(totals), tuple_of(inputs),
                     combine_function(v.combine));
    out_.format_line("{} = {}({}, {})", list(carries), combine_function(v.combine), list(carries), list(totals));
  }
  if (truth) out_.format_line("{0} = {0} != 0", names[0]);
}

void TritonEmitter::declare_accumulators(const Site& site, ValueId id) {
  const Value& v = value(id);
  if (v.op != ScalarOp::combine && v.op != ScalarOp::scan) return;
  const auto names = part_names(id, v.op == ScalarOp::scan ? "c" : "a");
  const auto identity = identities(v);
  const std::string shape = v.op == ScalarOp::scan ? "[XBLOCK, 1]" : shape_of(site, kX | kR);
  for (std::size_t i = 0; i < names.size(); ++i)
    out_.format_line("{} = tl.broadcast_to({}, {})", names[i], identity[i], shape);
}

void TritonEmitter::update_accumulators(const Site& site, ValueId id) {
  const Value& v = value(id);
  const auto names = part_names(id, "a");
  const std::vector<std::string> x = operands(site, v);
  const std::string call = format("{}({}, {})", combine_function(v.combine), list(names), list(x));
  const std::string comment = note(v) + " " + std::string(loop::info_of(v.combine).name);
  const auto mask = rmask_.find(site.number);
  if (mask == rmask_.end()) return line(format("{} = {}", list(names), call), comment);
  const auto next = part_names(id, "u");
  line(format("{} = {}", list(next), call), comment);
  for (std::size_t i = 0; i < names.size(); ++i)
    out_.format_line("{0} = tl.where({1}, {2}, {0})", names[i], mask->second, next[i]);
}

void TritonEmitter::finish_accumulators(const Site& site, ValueId id) {
  if (value(id).op == ScalarOp::combine) emit_reduce(site, id, part_names(id, "a"));
}

}  // namespace stax::codegen
