// Matrix products: library calls with epilogues.
#include <fmt/format.h>

#include <cmath>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

using Ints = std::vector<std::int64_t>;

// Shapes of a product of tensors of rank >= 2: batch sizes broadcast.
struct Product {
  std::vector<Expr> batch;
  Expr m, n, k;
};

Product product_of(InferContext& c) {
  const TensorType &a = c.type(0), &b = c.type(1);
  const std::size_t ra = a.sizes.size(), rb = b.sizes.size();
  Product p;
  p.m = a.sizes[ra - 2], p.k = a.sizes[ra - 1], p.n = b.sizes[rb - 1];
  if (p.k != b.sizes[rb - 2] && !c.decide(eq(p.k, b.sizes[rb - 2]), "the inner sizes agree"))
    c.error(fmt::format("shapes {} and {} do not fit: inner sizes {} and {}", graph::shape_text(a.sizes),
                        graph::shape_text(b.sizes), graph::size_text(p.k), graph::size_text(b.sizes[rb - 2])),
            "The last size of the left operand must equal the last but one of the right");
  const std::vector<std::vector<Expr>> batches{{a.sizes.begin(), a.sizes.end() - 2},
                                               {b.sizes.begin(), b.sizes.end() - 2}};
  p.batch = c.broadcast(batches);
  return p;
}

// View of an operand with its batch axes broadcast to `batch` by stride 0.
loop::View batched(LowerContext& c, const Value& v, const std::vector<Expr>& batch) {
  loop::View view = c.view(v);
  const std::size_t own = view.sizes.size() - 2, skip = batch.size() - own;
  std::vector<Expr> sizes = batch, strides(batch.size(), c.context().constant(0));
  for (std::size_t i = 0; i < own; ++i)
    if (!c.is_one(view.sizes[i]) || c.is_one(batch[i + skip])) strides[i + skip] = view.strides[i];
  sizes.insert(sizes.end(), view.sizes.end() - 2, view.sizes.end());
  strides.insert(strides.end(), view.strides.end() - 2, view.strides.end());
  view.sizes = std::move(sizes), view.strides = std::move(strides);
  return view;
}

loop::View broadcast_view(LowerContext& c, const Value& v, const std::vector<Expr>& sizes) {
  loop::View view = c.view(v);
  const std::size_t skip = sizes.size() - view.sizes.size();
  std::vector<Expr> strides(sizes.size(), c.context().constant(0));
  for (std::size_t i = 0; i < view.sizes.size(); ++i)
    if (!c.is_one(view.sizes[i])) strides[i + skip] = view.strides[i];
  view.sizes = sizes, view.strides = std::move(strides);
  return view;
}

// Batch axes of a and out that are one run with the rows become rows, when b has no batch of its own: one large
// product.
void merge_batch_into_rows(LowerContext& c, loop::LibraryCall& call) {
  auto is_run = [&](const loop::View& v, std::size_t i) {
    const Expr expected = v.sizes[i + 1] * v.strides[i + 1];
    return v.strides[i] == expected || c.env().is_always(eq(v.strides[i], expected));
  };
  while (call.out.sizes.size() > 2) {
    const std::size_t i = call.out.sizes.size() - 3;
    if (!call.b.strides[i].is_constant(0) && !c.is_one(call.out.sizes[i])) return;
    std::vector<loop::View*> views{&call.a, &call.out};
    if (call.bias) views.push_back(&*call.bias);
    if (call.residual) views.push_back(&*call.residual);
    for (loop::View* v : views) {
      const bool still =
          v == &*call.bias && call.bias && v->strides[i].is_constant(0) && v->strides[i + 1].is_constant(0);
      if (!still && !is_run(*v, i)) return;
    }
    for (loop::View* v : views) {
      v->sizes[i + 1] = v->sizes[i] * v->sizes[i + 1];
      v->sizes.erase(v->sizes.begin() + static_cast<std::ptrdiff_t>(i));
      v->strides.erase(v->strides.begin() + static_cast<std::ptrdiff_t>(i));
    }
    call.b.sizes.erase(call.b.sizes.begin() + static_cast<std::ptrdiff_t>(i));
    call.b.strides.erase(call.b.strides.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

double reference_activation(const std::string& name, double x) {
  if (name == "relu") return std::isnan(x) ? x : std::max(x, 0.0);
  if (name == "gelu_erf") return 0.5 * x * (1 + std::erf(x * M_SQRT1_2));
  if (name == "gelu_tanh") return 0.5 * x * (1 + std::tanh(M_2_SQRTPI * M_SQRT1_2 * (x + 0.044715 * x * x * x)));
  if (name == "silu") return x / (1 + std::exp(-x));
  if (name == "sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "tanh") return std::tanh(x);
  return x;
}

// Primitive: activation(scale · a·b + bias) + residual for operands of rank >= 2.
OpDef matmul_fused() {
  OpDef def;
  def.name = "matmul_fused";
  def.internal = true;
  def.doc =
      "activation(scale · a·b + bias) + residual. a [batch…, m, k], b [batch…, k, n]; batch sizes broadcast. Half "
      "types accumulate in f32, "
      "integers wrap.";
  def.params = {
      tensor("a", "rank 2 or more"),
      tensor("b", "rank 2 or more"),
      {"bias", ParamKind::optional_tensor, Attribute{}, "broadcasts to the result"},
      {"residual", ParamKind::optional_tensor, Attribute{}, "of the result's shape"},
      {"activation", ParamKind::string, std::string("none"), "none, relu, gelu_erf, gelu_tanh, silu, sigmoid, tanh"},
      {"scale", ParamKind::floating, 1.0, "of the product"}};
  def.infer = [](InferContext& c) {
    if (c.type(0).rank() < 2 || c.type(1).rank() < 2) c.error("takes operands of rank 2 or more");
    if (c.type(0).dtype != c.type(1).dtype)
      c.error(fmt::format("dtypes {} and {} differ", to_string(c.type(0).dtype), to_string(c.type(1).dtype)));
    if (!loop::parse_activation(c.string("activation"))) c.error("unknown activation '" + c.string("activation") + "'");
    Product p = product_of(c);
    p.batch.push_back(p.m);
    p.batch.push_back(p.n);
    TensorType t = c.contiguous_type(c.type(0).dtype, std::move(p.batch));
    t.device = c.device();
    return std::vector{t};
  };
  def.lower = [](LowerContext& c, const Node& node) {
    const Value result{const_cast<Node*>(&node), 0};
    const std::vector<Expr> batch(node.types[0].sizes.begin(), node.types[0].sizes.end() - 2);
    loop::LibraryCall call;
    call.name = "matmul";
    call.a = batched(c, node.operands[0], batch);
    call.b = batched(c, node.operands[1], batch);
    call.out = c.make_result(result);
    if (node.operands.size() > 2 && node.operands[2])
      call.bias = broadcast_view(c, node.operands[2], node.types[0].sizes), call.name += "_bias";
    if (node.operands.size() > 3 && node.operands[3])
      call.residual = broadcast_view(c, node.operands[3], node.types[0].sizes);
    const std::string& activation = std::get<std::string>(node.attributes.at("activation"));
    call.activation = loop::parse_activation(activation).value();
    if (activation != "none") call.name += "_" + activation;
    if (call.residual) call.name += "_residual";
    const Attribute& scale = node.attributes.at("scale");
    call.scale = std::get<double>(scale);
    const loop::Buffer& b = c.program().buffers[static_cast<std::size_t>(call.b.buffer)];
    call.b_is_weight = b.kind == loop::BufferKind::input && node.operands[1].type().rank() == 2;
    call.origin = c.origin(node);
    merge_batch_into_rows(c, call);
    c.emit(std::move(call));
  };
  def.evaluate = [](EvalContext& c) {
    Array out = c.make_result();
    const std::vector<std::int64_t> sizes = c.result_sizes();
    const std::size_t r = sizes.size();
    auto widen = [&](const Array& a, std::int64_t rows, std::int64_t columns) {
      std::vector<std::int64_t> s(sizes.begin(), sizes.end() - 2);
      s.insert(s.end(), {rows, columns});
      return graph::broadcast_to(a, s);
    };
    const std::int64_t k = c.operand(0).sizes().back();
    const Array a = widen(c.operand(0), sizes[r - 2], k), b = widen(c.operand(1), k, sizes[r - 1]);
    const std::optional<Array> bias = c.has(2) ? std::optional(graph::broadcast_to(c.operand(2), sizes)) : std::nullopt;
    const std::optional<Array> residual =
        c.has(3) ? std::optional(graph::broadcast_to(c.operand(3), sizes)) : std::nullopt;
    const bool floating = is_floating(out.dtype());
    const std::string activation = c.attributes().string("activation");
    for_each_index(sizes, [&](std::span<const std::int64_t> index) {
      std::vector<std::int64_t> ia(index.begin(), index.end()), ib = ia;
      double d = 0;
      std::uint64_t n = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        ia[r - 1] = i, ib[r - 2] = i;
        if (floating)
          d += read_f64(a, ia) * read_f64(b, ib);
        else
          n += static_cast<std::uint64_t>(read_i64(a, ia)) * static_cast<std::uint64_t>(read_i64(b, ib));
      }
      d *= c.attributes().floating("scale");
      if (bias) d += read_f64(*bias, index), n += static_cast<std::uint64_t>(floating ? 0 : read_i64(*bias, index));
      d = reference_activation(activation, d);
      if (residual)
        d += read_f64(*residual, index), n += static_cast<std::uint64_t>(floating ? 0 : read_i64(*residual, index));
      if (floating)
        put(out, index, round_to_dtype(d, compute_dtype(out.dtype())));
      else
        put(out, index, static_cast<std::int64_t>(n));
    });
    return std::vector{out};
  };
  def.samples = [] {
    std::vector<Sample> samples;
    for (const char* activation : {"none", "relu", "gelu_erf", "gelu_tanh", "silu", "sigmoid", "tanh"})
      samples.push_back(
          {{make_array(Dtype::f32, {5, 17}), make_array(Dtype::f32, {17, 19}, Fill::small, 2),
            make_array(Dtype::f32, {19}, Fill::small, 3), make_array(Dtype::f32, {5, 19}, Fill::small, 4)},
           {},
           {{"activation", std::string(activation)}, {"scale", 0.5}},
           tolerance_of(Dtype::f32, 64),
           activation});
    return samples;
  };
  return def;
}

std::vector<Sample> product_samples(bool linear) {
  std::vector<Sample> samples;
  auto s = [&](Dtype t, const Ints& a, const Ints& b, std::string note, LayoutKind l = LayoutKind::contiguous,
               bool bias = false) {
    std::vector<Array> operands{make_array(t, a, l, Fill::small, 1), make_array(t, b, Fill::small, 2)};
    if (bias) operands.push_back(make_array(t, {b[0]}, Fill::small, 3));
    samples.push_back({std::move(operands), {}, {}, tolerance_of(t, 64), std::move(note)});
  };
  if (linear) {
    for (Dtype t : kFloatDtypes) s(t, {5, 33}, {17, 33}, "dtype", LayoutKind::contiguous, true);
    s(Dtype::f32, {2, 3, 16}, {19, 16}, "batch", LayoutKind::contiguous, true);
    s(Dtype::f32, {16}, {19, 16}, "vector", LayoutKind::contiguous, true);
    s(Dtype::f32, {5, 0}, {17, 0}, "empty inner size", LayoutKind::contiguous, true);
    s(Dtype::f32, {4, 8}, {6, 8}, "no bias");
    return samples;
  }
  for (Dtype t : kNumberDtypes) s(t, {5, 33}, {33, 17}, "dtype");
  for (std::int64_t n : {1, 15, 16, 17}) s(Dtype::f32, {n, n}, {n, n}, "size");
  s(Dtype::f32, {2, 3, 5, 7}, {7, 4}, "batch by matrix");
  s(Dtype::f32, {2, 1, 5, 7}, {3, 7, 4}, "broadcast batch");
  s(Dtype::f32, {7}, {7}, "vectors");
  s(Dtype::f32, {5, 7}, {7}, "matrix by vector");
  s(Dtype::f32, {7}, {2, 7, 4}, "vector by batch");
  s(Dtype::f32, {5, 0}, {0, 4}, "empty inner size");
  s(Dtype::f32, {0, 5}, {5, 4}, "no rows");
  s(Dtype::f32, {0, 2, 3}, {0, 3, 4}, "no batch");
  s(Dtype::f32, {5, 8}, {8, 6}, "transposed", LayoutKind::transposed);
  s(Dtype::f32, {5, 8}, {8, 6}, "reversed", LayoutKind::reversed);
  s(Dtype::f32, {5, 8}, {8, 6}, "stride 0", LayoutKind::expanded);
  return samples;
}

OpDef matmul() {
  OpDef def;
  def.name = "matmul";
  def.doc =
      "Matrix product. Rank 1 is a row on the left and a column on the right, and that axis is dropped; batch sizes "
      "broadcast. Dtypes are promoted.";
  def.method = true;
  def.params = {tensor("a", "rank 1 or more"), tensor("b", "rank 1 or more")};
  def.build = [](Graph& g, InferContext& c) {
    if (c.type(0).rank() == 0 || c.type(1).rank() == 0)
      c.error("takes tensors of rank 1 or more", "Use * for a product with a number");
    const Dtype t = c.promoted();
    if (t == Dtype::boolean) c.error("is not defined for booleans", "Cast to a number with .to(dtype)");
    const bool row = c.type(0).rank() == 1, column = c.type(1).rank() == 1;
    Value a = g.add("cast", {c.operands()[0]}, {{"dtype", t}}, c.where()),
          b = g.add("cast", {c.operands()[1]}, {{"dtype", t}}, c.where());
    if (row) a = g.add("unsqueeze", {a}, {{"axis", std::int64_t{0}}}, c.where());
    if (column) b = g.add("unsqueeze", {b}, {{"axis", std::int64_t{1}}}, c.where());
    {
      const Value both[] = {a, b};
      InferContext named(c.op(), both, {}, c.env(), c.where());
      (void)product_of(named);  // errors speak of matmul
    }
    Value out = g.add("matmul_fused", {a, b}, {}, c.where());
    if (column) out = g.add("select", {out}, {{"axis", std::int64_t{-1}}, {"index", std::int64_t{0}}}, c.where());
    if (row)
      out = g.add("select", {out}, {{"axis", std::int64_t{column ? -1 : -2}}, {"index", std::int64_t{0}}}, c.where());
    return std::vector{out};
  };
  def.samples = [] { return product_samples(false); };
  return def;
}

OpDef linear() {
  OpDef def;
  def.name = "linear";
  def.doc = "x · weightᵀ + bias: x [batch…, in], weight [out, in], bias [out] or none.";
  def.params = {tensor("x", "rank 1 or more"),
                tensor("weight", "rank 2"),
                {"bias", ParamKind::optional_tensor, Attribute{}, "rank 1 or none"}};
  def.build = [](Graph& g, InferContext& c) {
    const TensorType &x = c.type(0), &w = c.type(1);
    if (x.rank() == 0 || w.rank() != 2)
      c.error(fmt::format("takes x of rank 1 or more and weight of rank 2, not {} and {}", x.rank(), w.rank()));
    if (x.sizes.back() != w.sizes[1] && !c.decide(eq(x.sizes.back(), w.sizes[1]), "the input sizes agree"))
      c.error(fmt::format("x of shape {} does not fit weight of shape {}", graph::shape_text(x.sizes),
                          graph::shape_text(w.sizes)),
              "The last sizes must be equal");
    if (c.has(2) &&
        (c.type(2).rank() != 1 || !c.decide(eq(c.type(2).sizes[0], w.sizes[0]), "the bias fits the weight")))
      c.error(fmt::format("bias of shape {} does not fit weight of shape {}", graph::shape_text(c.type(2).sizes),
                          graph::shape_text(w.sizes)));
    const Dtype t = c.promoted();
    auto cast = [&](Value v) { return g.add("cast", {v}, {{"dtype", t}}, c.where()); };
    const bool row = x.rank() == 1;
    Value a = cast(c.operands()[0]);
    if (row) a = g.add("unsqueeze", {a}, {{"axis", std::int64_t{0}}}, c.where());
    const Value b = g.add("t", {cast(c.operands()[1])}, {}, c.where());
    Value out = g.add("matmul_fused", {a, b, c.has(2) ? cast(c.operands()[2]) : Value{}}, {}, c.where());
    if (row) out = g.add("select", {out}, {{"axis", std::int64_t{0}}, {"index", std::int64_t{0}}}, c.where());
    return std::vector{out};
  };
  def.samples = [] { return product_samples(true); };
  return def;
}

}  // namespace

void register_matmul() {
  graph::register_op(matmul_fused());
  graph::register_op(matmul());
  graph::register_op(linear());
}

}  // namespace stax::ops
