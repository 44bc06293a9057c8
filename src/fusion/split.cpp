#include "fusion/split.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>

#include "fusion/sizes.h"
#include "loop/builder.h"

namespace stax::fusion {

using loop::Axis;
using loop::BufferId;
using loop::CombineOp;
using loop::Expr;
using loop::Kernel;
using loop::KernelBuilder;
using loop::kNoValue;
using loop::Phase;
using loop::Program;
using loop::ScalarOp;
using loop::Value;
using loop::ValueId;
using symbolic::SymbolMap;

std::int64_t split_count(std::int64_t outputs, std::int64_t length, const SplitTarget& target) {
  if (outputs <= 0 || outputs >= target.parallel_units) return 1;
  std::int64_t parts = 1;
  while (2 * parts * outputs <= target.parallel_units && length / (2 * parts) >= target.min_chunk) parts *= 2;
  while (length / parts > target.max_chunk) parts *= 2;
  return parts;
}

namespace {

// What is cut: the combines of the first phase of a kernel, along one inner axis.
struct Cut {
  std::size_t axis = 0;
  std::int64_t parts = 1;
  std::vector<ValueId> combines;
};

bool is_splittable(const Kernel& k) {
  if (k.phases.empty() || k.phases[0].inner.empty() || !k.phases[0].stores.empty()) return false;
  for (std::size_t p = 0; p < k.phases.size(); ++p)
    for (ValueId v = k.phases[p].begin; v < k.phases[p].end; ++v) {
      const ScalarOp op = k.values[static_cast<std::size_t>(v)].op;
      if (op == ScalarOp::scan || (op == ScalarOp::combine && p > 0)) return false;
    }
  return std::all_of(k.phases.begin() + 1, k.phases.end(), [](const Phase& p) { return p.inner.empty(); });
}

// Outputs as units of work: neighbouring columns that share cache lines count as one.
std::int64_t work_units(const Sizes& sizes, const Kernel& k, const SplitTarget& target) {
  const std::int64_t outputs = sizes.product(k.outer);
  for (const loop::Access& r : loop::reads_of(k)) {
    if (r.phase != 0 || !mentions(r.index, k.phases[0].inner)) continue;
    if (contiguous_axis(k.phases[0].inner, r.index)) return outputs;
    if (const Axis* column = contiguous_axis(k.outer, r.index)) {
      const std::int64_t width = std::max<std::int64_t>(sizes.at_hint(column->extent), 1);
      return outputs / width * ((width + target.column_tile - 1) / target.column_tile);
    }
  }
  return outputs;
}

std::int64_t work_of_item(const Sizes& sizes, const Kernel& k) {
  std::int64_t inner = 1;
  for (const Phase& p : k.phases) inner = std::max(inner, sizes.product(p.inner));
  return times(sizes.product(k.outer), inner);
}

// Whether something made from the results of item `at` is read by a kernel that goes over as many elements.
bool is_revisited(const Program& program, const Sizes& sizes, std::size_t at) {
  const auto& k = std::get<Kernel>(program.items[at]);
  const std::int64_t row = work_of_item(sizes, k);
  std::unordered_set<BufferId> made;
  for (const loop::Access& w : loop::writes_of(k)) made.insert(w.buffer);
  for (std::size_t i = at + 1; i < program.items.size(); ++i) {
    const auto* later = std::get_if<Kernel>(&program.items[i]);
    if (!later) continue;
    const std::vector<loop::Access> reads = loop::reads_of(*later);
    if (std::none_of(reads.begin(), reads.end(), [&](const loop::Access& r) { return made.contains(r.buffer); }))
      continue;
    if (2 * work_of_item(sizes, *later) >= row) return true;
    for (const loop::Access& w : loop::writes_of(*later)) made.insert(w.buffer);
  }
  return false;
}

std::optional<Cut> cut_of(const Sizes& sizes, const Kernel& k, const SplitTarget& target) {
  if (!is_splittable(k)) return std::nullopt;
  Cut cut;
  const std::vector<Axis>& inner = k.phases[0].inner;
  const std::int64_t length = sizes.product(inner), outputs = sizes.product(k.outer);
  const std::int64_t units = work_units(sizes, k, target);
  // Of a column reduction the work of a unit is its columns times the length.
  const std::int64_t per_unit = units > 0 ? times(length, outputs) / units : length;
  const std::int64_t parts = split_count(units, per_unit, target);
  if (parts == 1) return std::nullopt;
  for (std::size_t a = 0; a < inner.size(); ++a)
    if (sizes.at_hint(inner[a].extent) >= 2 * parts) {
      cut.axis = a;
      cut.parts = parts;
      break;
    }
  if (cut.parts == 1) return std::nullopt;
  for (ValueId v = k.phases[0].begin; v < k.phases[0].end; ++v)
    if (k.values[static_cast<std::size_t>(v)].op == ScalarOp::combine) cut.combines.push_back(v);
  return cut.combines.empty() ? std::nullopt : std::optional(cut);
}

// Copies values of a kernel into a builder under a substitution of axes.
class Copier {
 public:
  Copier(Program& program, const Kernel& k, KernelBuilder& to) : program_(program), k_(k), to_(to) { begin({}); }
  void begin(SymbolMap map) {
    map_ = std::move(map);
    done_.assign(k_.values.size(), kNoValue);
  }
  void set(ValueId v, ValueId copied) { done_[static_cast<std::size_t>(v)] = copied; }
  ValueId at(ValueId v) const { return done_[static_cast<std::size_t>(v)]; }
  Expr at(Expr e) const { return map_.empty() ? e : symbolic::substitute(e, map_); }
  const Value& source(ValueId v) const { return k_.values[static_cast<std::size_t>(v)]; }

  void copy(ValueId v) {
    Value c = source(v);
    for (ValueId& a : c.args)
      if (a != kNoValue) a = at(a);
    if (c.index) c.index = at(c.index);
    if (c.op == ScalarOp::bounded) {
      c.symbol = program_.fresh_indirect(c.index);
      map_[source(v).symbol] = c.symbol;
    }
    set(v, to_.append(c));
  }
  // The values of the first phase up to its combines.
  void copy_operands() {
    for (ValueId v = k_.phases[0].begin; v < k_.phases[0].end; ++v)
      if (!loop::is_combined(k_, v)) copy(v);
  }

 private:
  Program& program_;
  const Kernel& k_;
  KernelBuilder& to_;
  SymbolMap map_;
  std::vector<ValueId> done_;
};

class Splitter {
 public:
  Splitter(Program& program, const Kernel& k, Cut cut) : program_(program), k_(k), cut_(std::move(cut)) {
    const Expr n = k.phases[0].inner[cut_.axis].extent;
    parts_ = program.context->constant(cut_.parts);
    chunk_ = symbolic::floordiv(n, parts_);
    rest_ = symbolic::simplify(n - chunk_ * parts_, program.facts);
    exact_ = rest_.is_constant(0);
    count_ = exact_ ? parts_ : parts_ * 2;
  }

  std::vector<Kernel> run() {
    for (ValueId v : cut_.combines) {
      const Value& c = k_.values[static_cast<std::size_t>(v)];
      partials_.emplace_back();
      for (int part = 0; part < loop::info_of(c.combine).parts; ++part)
        partials_.back().push_back(add_buffer(loop::part_dtype(c, part)));
    }
    return {first_layer(), second_layer()};
  }

 private:
  BufferId add_buffer(Dtype dtype) {
    const auto id = static_cast<BufferId>(program_.buffers.size());
    std::vector<Expr> sizes, strides;
    for (const Axis& a : k_.outer) sizes.push_back(a.extent);
    sizes.push_back(count_);
    strides.resize(sizes.size());
    Expr stride = program_.context->constant(1);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      strides[d] = stride;
      stride = stride * sizes[d];
    }
    program_.buffers.push_back(
        {"b" + std::to_string(id), dtype, sizes, strides, loop::BufferKind::temporary, -1, false});
    return id;
  }

  Expr address(const std::vector<Expr>& outer, BufferId buffer, Expr last) const {
    const loop::Buffer& b = program_.buffers[static_cast<std::size_t>(buffer)];
    Expr e = last;
    for (std::size_t d = 0; d < outer.size(); ++d) e = e + outer[d] * b.strides[d];
    return e;
  }

  void store_tuples(KernelBuilder& to, const std::vector<Expr>& outer, const std::vector<ValueId>& tuples, Expr last) {
    for (std::size_t c = 0; c < tuples.size(); ++c)
      for (std::size_t part = 0; part < partials_[c].size(); ++part)
        to.store(partials_[c][part], address(outer, partials_[c][part], last),
                 to.part(tuples[c], static_cast<int>(part)));
  }

  Kernel first_layer() {
    KernelBuilder to(program_, k_.name + "_partial");
    Copier copier(program_, k_, to);
    SymbolMap map;
    std::vector<Expr> outer;
    for (const Axis& a : k_.outer) map[a.var] = outer.emplace_back(to.outer(a.extent));
    const Expr part = to.outer(parts_);
    const std::vector<Axis>& inner = k_.phases[0].inner;

    std::vector<Expr> extents;
    for (const Axis& a : inner) extents.push_back(a.extent);
    extents[cut_.axis] = chunk_;
    std::vector<Expr> vars = to.phase(extents);
    vars[cut_.axis] = part * chunk_ + vars[cut_.axis];
    const auto operands = [&] {
      for (std::size_t i = 0; i < inner.size(); ++i) map[inner[i].var] = vars[i];
      copier.begin(map);
      copier.copy_operands();
    };
    operands();
    std::vector<ValueId> tuples;
    for (ValueId v : cut_.combines) {
      copier.copy(v);
      tuples.push_back(copier.at(v));
    }
    std::vector<ValueId> extra;
    if (!exact_) {
      // The element left over for this part, if there is one; the clamped address is that of another element.
      const Expr n = inner[cut_.axis].extent, element = chunk_ * parts_ + part;
      extents[cut_.axis] = symbolic::min(rest_, program_.context->constant(1));
      vars = to.phase(extents);
      vars[cut_.axis] = symbolic::min(element, n - 1);
      operands();
      const ValueId present = to.binary(ScalarOp::lt, to.index(part), to.index(rest_));
      for (ValueId v : cut_.combines) extra.push_back(masked(to, copier, v, present));
    }
    to.phase();
    store_tuples(to, outer, tuples, part);
    if (!exact_) store_tuples(to, outer, extra, parts_ + part);
    return to.finish();
  }

  // The combine fed with its identity where `present` is false.
  ValueId masked(KernelBuilder& to, const Copier& copier, ValueId v, ValueId present) {
    const Value& c = copier.source(v);
    const Dtype t = c.dtype;
    const auto keep = [&](ValueId x, ValueId identity) { return to.select(present, x, identity); };
    const auto number = [&](double x) { return to.constant(x, t); };
    const auto lowest = [&] { return limit(to, t, false); };
    const auto highest = [&] { return limit(to, t, true); };
    std::vector<ValueId> args;
    for (ValueId a : c.args)
      if (a != kNoValue) args.push_back(copier.at(a));
    const bool tuples = static_cast<int>(args.size()) == loop::info_of(c.combine).parts;
    switch (c.combine) {
      case CombineOp::sum:
        args[0] = keep(args[0], number(0));
        break;
      case CombineOp::prod:
        args[0] = keep(args[0], number(1));
        break;
      case CombineOp::any:
        args[0] = keep(args[0], to.constant_int(0, t));
        break;
      case CombineOp::all:
        args[0] = keep(args[0], to.constant_int(1, t));
        break;
      case CombineOp::max:
      case CombineOp::min:
        args[0] = keep(args[0], c.combine == CombineOp::max ? lowest() : highest());
        break;
      case CombineOp::argmax:
      case CombineOp::argmin:
        args[0] = keep(args[0], c.combine == CombineOp::argmax ? lowest() : highest());
        args[1] = keep(args[1], to.constant_int(std::numeric_limits<std::int64_t>::max(), Dtype::i64));
        break;
      case CombineOp::welford:
        if (!tuples) args = {args[0], number(0), number(1)};
        for (ValueId& a : args) a = keep(a, number(0));
        break;
      case CombineOp::online_softmax:
        if (!tuples) args = {args[0], number(1)};
        args = {keep(args[0], lowest()), keep(args[1], number(0))};
        break;
    }
    return to.combine(c.combine, args, t);
  }

  static ValueId limit(KernelBuilder& to, Dtype t, bool highest) {
    if (t == Dtype::boolean) return to.constant_int(highest ? 1 : 0, t);
    if (is_floating(t))
      return to.constant(highest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity(),
                         t);
    if (t == Dtype::u8) return to.constant_int(highest ? 255 : 0, t);
    const int bits = 8 * byte_size(t);
    const auto most = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits));
    return to.constant_int(highest ? most : -most - 1, t);
  }

  Kernel second_layer() {
    KernelBuilder to(program_, k_.name);
    Copier copier(program_, k_, to);
    std::vector<Expr> outer;
    for (const Axis& a : k_.outer) {
      to.add_outer(a);
      outer.push_back(a.var);
    }
    const Expr r = to.phase({count_})[0];
    for (std::size_t c = 0; c < partials_.size(); ++c) {
      const Value& source = copier.source(cut_.combines[c]);
      to.set_origin(source.origin);
      std::vector<ValueId> args;
      for (BufferId b : partials_[c]) args.push_back(to.load(b, address(outer, b, r)));
      copier.set(cut_.combines[c], to.combine(source.combine, args, source.dtype));
    }
    for (ValueId v = k_.phases[0].begin; v < k_.phases[0].end; ++v)
      if (copier.source(v).op == ScalarOp::part) copier.copy(v);
    for (std::size_t p = 1; p < k_.phases.size(); ++p) {
      to.phase();
      for (ValueId v = k_.phases[p].begin; v < k_.phases[p].end; ++v) copier.copy(v);
      for (const loop::Store& s : k_.phases[p].stores) to.store(s.buffer, copier.at(s.index), copier.at(s.value));
    }
    return to.finish();
  }

  Program& program_;
  const Kernel& k_;
  Cut cut_;
  Expr parts_, chunk_, rest_, count_;
  bool exact_ = false;
  std::vector<std::vector<BufferId>> partials_;  // by combine and part
};

}  // namespace

std::vector<std::string> split_reductions(Program& program, const SplitTarget& target) {
  std::vector<std::string> names;
  std::vector<loop::Item> items;
  std::vector<bool> revisited;
  for (std::size_t i = 0; i < program.items.size(); ++i)
    revisited.push_back(std::holds_alternative<Kernel>(program.items[i]) && is_revisited(program, Sizes(program), i));
  for (std::size_t i = 0; i < program.items.size(); ++i) {
    loop::Item& item = program.items[i];
    const Kernel* k = std::get_if<Kernel>(&item);
    SplitTarget chosen = target;
    if (revisited[i]) chosen.min_chunk = target.min_chunk_of_revisited;
    std::optional<Cut> cut;
    if (k) cut = cut_of(Sizes(program), *k, chosen);
    if (!cut) {
      items.push_back(std::move(item));
      continue;
    }
    names.push_back(k->name);
    for (Kernel& part : Splitter(program, *k, *cut).run()) items.emplace_back(std::move(part));
  }
  program.items = std::move(items);
  return names;
}

}  // namespace stax::fusion
