// Cumulative operators.
#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

Dtype scan_dtype(const InferContext& c) {
  if (auto given = c.optional_dtype("dtype")) return *given;
  return is_floating(c.type(0).dtype) ? c.type(0).dtype : Dtype::i64;
}

OpDef cumsum() {
  OpDef def;
  def.name = "cumsum";
  def.doc = "Inclusive running sum along an axis. Integers and booleans give i64; half types accumulate in f32.";
  def.method = true;
  def.params = {tensor("x", "any dtype"), axis_param("axis", "along which"), dtype_param("of the result")};
  def.infer = [](InferContext& c) {
    (void)c.axis("axis", c.type(0).rank());
    return std::vector{c.contiguous_type(scan_dtype(c), c.type(0).sizes)};
  };
  def.lower = [](LowerContext& c, const Node& node) {
    const TensorType& x = node.operands[0].type();
    const Dtype t = compute_dtype(node.types[0].dtype);
    if (x.rank() == 0)
      return c.pointwise(node, [&](KernelBuilder& k, Index index) { return c.operand(k, node.operands[0], index, t); });
    const std::int64_t given = std::get<std::int64_t>(node.attributes.at("axis"));
    const int axis = static_cast<int>(given < 0 ? given + x.rank() : given);
    const loop::View out = c.make_result(Value{const_cast<Node*>(&node), 0});
    std::vector<Expr> kept = x.sizes;
    kept.erase(kept.begin() + axis);
    KernelBuilder k(c.program(), "scan_" + node.op->name);
    k.set_origin(c.origin(node));
    const std::vector<Expr> outer = k.outer(kept);
    const std::vector<Expr> inner = k.phase({x.sizes[static_cast<std::size_t>(axis)]});
    const std::vector<Expr> index = full_index(x.rank(), {axis}, outer, inner);
    k.store(out.buffer, c.address(out, index),
            k.scan(loop::CombineOp::sum, {c.operand(k, node.operands[0], index, t)}, t));
    c.emit(k.finish());
  };
  def.evaluate = [](EvalContext& c) {
    const Array& x = c.operand(0);
    Array out = c.make_result();
    if (x.rank() == 0) {
      copy_elements(x, out);
      return std::vector{out};
    }
    const auto axis = static_cast<std::size_t>(c.attributes().axis("axis", x.rank()));
    std::vector<std::int64_t> rest(x.sizes().begin(), x.sizes().end());
    const std::int64_t length = rest[axis];
    rest[axis] = std::min<std::int64_t>(1, length);
    const bool floating = is_floating(out.dtype());
    for_each_index(rest, [&](std::span<const std::int64_t> at) {
      std::vector<std::int64_t> index(at.begin(), at.end());
      double d = 0;
      std::uint64_t n = 0;
      for (index[axis] = 0; index[axis] < length; ++index[axis]) {
        if (floating)
          d += read_f64(x, index);
        else
          n += static_cast<std::uint64_t>(read_i64(x, index));
        if (floating)
          put(out, index, round_to_dtype(d, compute_dtype(out.dtype())));
        else
          put(out, index, static_cast<std::int64_t>(n));
      }
    });
    return std::vector{out};
  };
  def.samples = [] {
    std::vector<Sample> samples;
    auto s = [&](Dtype t, std::vector<std::int64_t> sizes, std::int64_t axis, LayoutKind l, std::string note) {
      // Partial sums of n normal numbers reach a few sqrt(n), rounded n times.
      const std::int64_t n = sizes.empty() ? 1 : sizes[axis < 0 ? sizes.size() - 1 : static_cast<std::size_t>(axis)];
      const double steps = 60 + static_cast<double>(n) / 4;
      samples.push_back(
          {{make_array(t, std::move(sizes), l)}, {}, {{"axis", axis}}, tolerance_of(t, steps), std::move(note)});
    };
    for (std::int64_t n : {1, 2, 15, 16, 17, 33, 129, 1000}) {
      s(Dtype::f32, {3, n}, -1, LayoutKind::contiguous, "rows");
      s(Dtype::f32, {n, 5}, 0, LayoutKind::contiguous, "columns");
    }
    for (Dtype t : kAllDtypes) s(t, {4, 37}, 1, LayoutKind::contiguous, "dtype");
    s(Dtype::f32, {}, 0, LayoutKind::contiguous, "rank 0");
    s(Dtype::f32, {3, 0}, 1, LayoutKind::contiguous, "empty");
    s(Dtype::f32, {2, 17, 3}, 1, LayoutKind::contiguous, "middle axis");
    s(Dtype::f32, {6, 18}, 0, LayoutKind::transposed, "transposed");
    s(Dtype::f32, {6, 18}, 1, LayoutKind::reversed, "reversed");
    return samples;
  };
  return def;
}

}  // namespace

void register_scans() { graph::register_op(cumsum()); }

}  // namespace stax::ops
