// Reductions over axes.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

using loop::CombineOp;

// One kernel: combine over the reduced axes, then store; `body` gives the operands of the combine.
void lower_reduction(LowerContext& c, const Node& node, CombineOp op, Dtype accumulate, const std::vector<int>& axes,
                     const std::function<std::vector<ValueId>(KernelBuilder&, Index full, Index inner)>& body,
                     int part = 0) {
  const Value result{const_cast<Node*>(&node), 0};
  const loop::View out = c.make_result(result);
  const TensorType& x = node.operands[0].type();
  const SplitSizes sizes = split_sizes(x, axes);
  KernelBuilder k(c.program(), "red_" + node.op->name);
  k.set_origin(c.origin(node));
  const std::vector<Expr> outer = k.outer(sizes.kept);
  const std::vector<Expr> inner = k.phase(sizes.reduced);
  const std::vector<Expr> full = full_index(x.rank(), axes, outer, inner);
  ValueId v = k.combine(op, body(k, full, inner), accumulate);
  if (part) v = k.part(v, part);
  k.phase();
  k.store(out.buffer, c.address(out, result_index(node, axes, outer)), k.cast(v, node.types[0].dtype));
  c.emit(k.finish());
}

// Calls f(result offset, elements of the group in row-major order as indices).
void for_each_group(
    EvalContext& c, const std::vector<int>& axes, const Array& out,
    const std::function<void(
        const std::vector<std::int64_t>& out_index,
        const std::function<void(const std::function<void(std::span<const std::int64_t>, std::int64_t)>&)>& each)>& f) {
  const Array& x = c.operand(0);
  std::vector<std::int64_t> kept, reduced;
  for (int i = 0; i < x.rank(); ++i)
    (std::find(axes.begin(), axes.end(), i) != axes.end() ? reduced : kept).push_back(x.size(i));
  const bool keepdim = out.rank() == x.rank();
  for_each_index(kept, [&](std::span<const std::int64_t> outer) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(x.rank())), out_index;
    std::size_t next = 0;
    for (int i = 0; i < x.rank(); ++i) {
      const bool red = std::find(axes.begin(), axes.end(), i) != axes.end();
      if (!red) index[static_cast<std::size_t>(i)] = outer[next++];
      if (!red || keepdim) out_index.push_back(red ? 0 : index[static_cast<std::size_t>(i)]);
    }
    f(out_index, [&](const std::function<void(std::span<const std::int64_t>, std::int64_t)>& visit) {
      std::int64_t position = 0;
      for_each_index(reduced, [&](std::span<const std::int64_t> inner) {
        for (std::size_t a = 0; a < axes.size(); ++a) index[static_cast<std::size_t>(axes[a])] = inner[a];
        visit(index, position++);
      });
    });
  });
}

struct Reduction {
  const char* name;
  const char* doc;
  CombineOp op;
  enum Kind { accumulate, extremum, logical } kind;
};

const Reduction kReductions[] = {
    {"sum", "Sum over the axes. Integers and booleans give i64, half types accumulate in f32; empty gives 0.",
     CombineOp::sum, Reduction::accumulate},
    {"prod", "Product over the axes. Integers and booleans give i64; empty gives 1.", CombineOp::prod,
     Reduction::accumulate},
    {"amax", "Largest over the axes; NaN if any is NaN. An empty axis is an error.", CombineOp::max,
     Reduction::extremum},
    {"amin", "Smallest over the axes; NaN if any is NaN. An empty axis is an error.", CombineOp::min,
     Reduction::extremum},
    {"any", "Whether any element over the axes is non-zero.", CombineOp::any, Reduction::logical},
    {"all", "Whether all elements over the axes are non-zero.", CombineOp::all, Reduction::logical},
};

Dtype result_dtype(const InferContext& c, const Reduction& r) {
  const Dtype t = c.type(0).dtype;
  if (r.kind == Reduction::logical) return Dtype::boolean;
  if (r.kind == Reduction::extremum) return t;
  if (auto given = c.optional_dtype("dtype")) return *given;
  return is_floating(t) ? t : Dtype::i64;
}

void check_not_empty(InferContext& c, Expr count) {
  if (c.decide(eq(count, 0), "the reduced axes are empty"))
    c.error("the reduced axes are empty and have no identity", "Check the size before, or reduce over another axis");
}

Array evaluate_one(EvalContext& c, const Reduction& r) {
  Array out = c.make_result();
  const Array& x = c.operand(0);
  const bool floating =
      r.kind != Reduction::logical && is_floating(r.kind == Reduction::extremum ? x.dtype() : out.dtype());
  for_each_group(c, node_axes(c.node()), out, [&](const std::vector<std::int64_t>& at, const auto& each) {
    double d = r.op == CombineOp::prod ? 1 : 0;
    std::int64_t n = r.op == CombineOp::prod || r.op == CombineOp::all;
    bool first = true;
    each([&](std::span<const std::int64_t> index, std::int64_t) {
      const double v = floating || r.kind == Reduction::logical ? read_f64(x, index) : 0;
      const std::int64_t w = !floating && r.kind != Reduction::logical ? read_i64(x, index) : 0;
      switch (r.op) {
        case CombineOp::sum:
          d += v, n = static_cast<std::int64_t>(static_cast<std::uint64_t>(n) + static_cast<std::uint64_t>(w));
          break;
        case CombineOp::prod:
          d *= v, n = static_cast<std::int64_t>(static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(w));
          break;
        case CombineOp::max:
          d = first ? v : nan_max(d, v);
          n = first ? w : std::max(n, w);
          break;
        case CombineOp::min:
          d = first ? v : nan_min(d, v);
          n = first ? w : std::min(n, w);
          break;
        case CombineOp::any:
          n |= v != 0;
          break;
        default:
          n &= v != 0;
          break;
      }
      first = false;
    });
    if (floating)
      put(out, at, round_to_dtype(d, compute_dtype(out.dtype())));
    else
      put(out, at, n);
  });
  return out;
}

OpDef reduction(const Reduction& r) {
  OpDef def;
  def.name = r.name;
  def.doc = r.doc;
  def.method = true;
  def.params = {tensor("x", "any dtype"), axes_param("which; default all"), keepdim_param()};
  if (r.kind == Reduction::accumulate) def.params.push_back(dtype_param("of the result and the accumulator"));
  def.infer = [r](InferContext& c) {
    const ReductionShape s = reduction_shape(c);
    if (r.kind == Reduction::extremum) check_not_empty(c, s.count);
    return std::vector{c.contiguous_type(result_dtype(c, r), s.result_sizes)};
  };
  def.lower = [r](LowerContext& c, const Node& node) {
    const Dtype t = compute_dtype(node.types[0].dtype);
    lower_reduction(c, node, r.op, t, node_axes(node), [&](KernelBuilder& k, Index full, Index) {
      return std::vector{c.operand(k, node.operands[0], full, t)};
    });
  };
  def.evaluate = [r](EvalContext& c) { return std::vector{evaluate_one(c, r)}; };
  def.samples = [r] {
    if (r.op == CombineOp::prod) return reduction_samples(kAllDtypes, 40, Fill::unit, true);
    const bool exact = r.kind != Reduction::accumulate;
    return reduction_samples(kAllDtypes, exact ? 0 : 40, r.kind == Reduction::logical ? Fill::whole : Fill::small,
                             r.kind != Reduction::extremum);
  };
  return def;
}

OpDef arg_reduction(const char* name, const char* doc, CombineOp op) {
  OpDef def;
  def.name = name;
  def.doc = doc;
  def.method = true;
  def.params = {tensor("x", "any dtype"),
                {"axis", ParamKind::optional_axes, Attribute{}, "one axis; default all, as a row-major position"},
                keepdim_param()};
  def.infer = [](InferContext& c) {
    const ReductionShape s = reduction_shape(c, "axis", true);
    check_not_empty(c, s.count);
    return std::vector{c.contiguous_type(Dtype::i64, s.result_sizes)};
  };
  def.lower = [op](LowerContext& c, const Node& node) {
    const TensorType& x = node.operands[0].type();
    const std::vector<int> axes = node_axes(node, "axis");
    const Dtype t = x.dtype == Dtype::boolean ? Dtype::u8 : compute_dtype(x.dtype);
    lower_reduction(
        c, node, op, t, axes,
        [&](KernelBuilder& k, Index full, Index inner) {
          Expr position = c.context().constant(0);
          for (std::size_t i = 0; i < inner.size(); ++i)
            position = position * x.sizes[static_cast<std::size_t>(axes[i])] + inner[i];
          return std::vector{c.operand(k, node.operands[0], full, t), k.index(position)};
        },
        1);
  };
  def.evaluate = [op](EvalContext& c) {
    Array out = c.make_result();
    const Array& x = c.operand(0);
    const bool floating = is_floating(x.dtype());
    for_each_group(c, node_axes(c.node(), "axis"), out, [&](const std::vector<std::int64_t>& at, const auto& each) {
      double best = 0;
      std::int64_t whole = 0, where = 0;
      bool first = true;
      each([&](std::span<const std::int64_t> index, std::int64_t position) {
        const double d = floating ? read_f64(x, index) : 0;
        const std::int64_t n = floating ? 0 : read_i64(x, index);
        const bool better =
            op == CombineOp::argmax ? (floating ? d > best : n > whole) : (floating ? d < best : n < whole);
        if (first || (floating && std::isnan(d) && !std::isnan(best)) || (better && !(floating && std::isnan(best))))
          best = d, whole = n, where = position;
        first = false;
      });
      put(out, at, where);
    });
    return std::vector{out};
  };
  def.samples = [] { return reduction_samples(kAllDtypes, 0, Fill::small, false, true, "axis"); };
  return def;
}

}  // namespace

void register_reductions() {
  for (const Reduction& r : kReductions) graph::register_op(reduction(r));
  graph::register_op(
      arg_reduction("argmax", "Index of the first NaN, else of the first largest element.", CombineOp::argmax));
  graph::register_op(
      arg_reduction("argmin", "Index of the first NaN, else of the first smallest element.", CombineOp::argmin));
}

}  // namespace stax::ops
