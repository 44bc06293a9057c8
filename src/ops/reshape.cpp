// Reshape and its relatives: a view where the strides allow it, else a copy first.
#include <fmt/format.h>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

using Ints = std::vector<std::int64_t>;

// The sizes with one -1 filled in; error unless the element counts agree.
std::vector<Expr> resolve_sizes(InferContext& c, const TensorType& x, std::vector<Expr> sizes) {
  Expr total = symbolic::product(c.context(), x.sizes), known = c.context().constant(1);
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].is_constant(-1)) {
      if (open) c.error("only one size may be -1");
      open = i;
    } else {
      if (auto v = sizes[i].constant(); v && *v < 0) c.error(fmt::format("size {} is negative", *v));
      known = known * sizes[i];
    }
  }
  auto misfit = [&] {
    const std::string text = graph::shape_text(sizes);
    if (open)
      c.error(fmt::format("shape {} has {} elements, which {} do not divide for the -1 of {}",
                          graph::shape_text(x.sizes), graph::size_text(total), graph::size_text(known), text));
    c.error(fmt::format("shape {} has {} elements, {} has {}", graph::shape_text(x.sizes), graph::size_text(total),
                        text, graph::size_text(known)),
            "The element counts must be equal");
  };
  if (open) {
    if (c.decide(eq(known, 0), "a given size is 0")) c.error("-1 cannot be inferred beside a size of 0");
    if (!c.decide(eq(floormod(total, known), 0), "the sizes divide the element count")) misfit();
    sizes[*open] = c.env().simplify(floordiv(total, known));
  } else if (!c.decide(eq(total, known), "the element counts agree")) {
    misfit();
  }
  return sizes;
}

// Strides of the reshaped view, or nothing when x's memory order does not allow one. Groups of axes that are laid out
// as one run are matched with groups of the new sizes of the same product.
std::optional<std::vector<Expr>> view_strides(InferContext& c, const TensorType& x, const std::vector<Expr>& sizes) {
  const std::vector<Expr> plain = c.row_major(x.sizes);
  if (x.strides == plain) return c.row_major(sizes);
  for (Expr s : x.sizes)
    if (s.is_constant(0)) return c.row_major(sizes);
  struct Run {
    Expr size, stride;  // of the innermost step
  };
  // Maximal runs of x, innermost first.
  std::vector<Run> runs;
  for (std::size_t i = x.sizes.size(); i-- > 0;) {
    if (x.sizes[i].is_constant(1)) continue;
    if (!runs.empty()) {
      const Expr next = runs.back().size * runs.back().stride;
      if (x.strides[i] == next || c.env().is_always(eq(x.strides[i], next)) ||
          (!c.env().is_always(ne(x.strides[i], next)) &&
           c.decide(eq(x.strides[i], next), "neighbouring axes are one run of memory"))) {
        runs.back().size = runs.back().size * x.sizes[i];
        continue;
      }
    }
    runs.push_back({x.sizes[i], x.strides[i]});
  }
  std::vector<Expr> strides(sizes.size(), c.context().constant(1));
  std::size_t run = 0;
  Expr used = c.context().constant(1);
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i].is_constant(1)) {
      strides[i] = run < runs.size() ? runs[run].stride * used : c.context().constant(1);
      continue;
    }
    if (run >= runs.size()) return std::nullopt;
    strides[i] = runs[run].stride * used;
    used = used * sizes[i];
    if (used == runs[run].size || c.decide(eq(used, runs[run].size), "new axes fill one run of memory")) {
      ++run;
      used = c.context().constant(1);
    } else if (!c.decide(eq(floormod(runs[run].size, used), 0) && lt(used, runs[run].size),
                         "new axes split one run of memory")) {
      return std::nullopt;
    }
  }
  return strides;
}

OpDef view_def() {
  OpDef def;
  def.name = "view";
  def.doc =
      "The elements in row-major order behind other sizes, without a copy; an error when the memory order does not "
      "allow it.";
  def.method = true;
  def.params = {tensor("x", "any"), {"sizes", ParamKind::dims, {}, "of the result; one may be -1"}};
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    std::vector<Expr> sizes = resolve_sizes(c, x, c.dims("sizes"));
    auto strides = view_strides(c, x, sizes);
    if (!strides)
      c.error(fmt::format("shape {} with strides {} cannot be viewed as {} without a copy", graph::shape_text(x.sizes),
                          graph::shape_text(x.strides), graph::shape_text(sizes)),
              "Use reshape");
    return ViewMap{std::move(sizes), std::move(*strides), c.context().constant(0)};
  };
  def.samples = [] {
    auto s = [](std::vector<std::int64_t> from, Ints to) {
      return Sample{{make_array(Dtype::f32, std::move(from))}, {}, {{"sizes", std::move(to)}}, 0, ""};
    };
    return std::vector{s({4, 6}, {2, 12}), s({4, 6}, {-1}),   s({24}, {2, 3, 4}),
                       s({}, {1, 1}),      s({0, 3}, {0, 5}), s({2, 3, 4}, {6, -1})};
  };
  return def;
}

OpDef reshape() {
  OpDef def;
  def.name = "reshape";
  def.doc =
      "The elements in row-major order behind other sizes: a view where the memory order allows it, else of a copy.";
  def.method = true;
  def.params = {tensor("x", "any"), {"sizes", ParamKind::dims, {}, "of the result; one may be -1"}};
  def.build = [](Graph& g, InferContext& c) {
    std::vector<Expr> sizes = resolve_sizes(c, c.type(0), c.dims("sizes"));
    Value x = c.operands()[0];
    if (sizes == c.type(0).sizes) return std::vector{x};
    if (!view_strides(c, c.type(0), sizes)) x = g.add("contiguous", {x}, {}, c.where());
    return std::vector{g.add("view", {x}, {{"sizes", sizes}}, c.where())};
  };
  def.samples = [] {
    auto s = [](std::vector<std::int64_t> from, Ints to, LayoutKind layout = LayoutKind::contiguous) {
      return Sample{{make_array(Dtype::f32, std::move(from), layout)}, {}, {{"sizes", std::move(to)}}, 0, ""};
    };
    return std::vector{s({4, 6}, {2, 12}),
                       s({4, 6}, {24}, LayoutKind::transposed),
                       s({4, 6}, {8, 3}, LayoutKind::transposed),
                       s({2, 3, 4}, {2, -1}, LayoutKind::stepped),
                       s({5, 4}, {20}, LayoutKind::expanded),
                       s({6}, {2, 3}, LayoutKind::reversed)};
  };
  return def;
}

OpDef unflatten() {
  OpDef def;
  def.name = "unflatten";
  def.doc = "One axis split into several; one of the sizes may be -1.";
  def.method = true;
  def.params = {
      tensor("x", "any"), axis_param("axis", "which"), {"sizes", ParamKind::dims, {}, "that replace the axis"}};
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    if (x.rank() == 0) c.error("a rank-0 tensor has no axis to split");
    const auto axis = static_cast<std::size_t>(c.axis("axis", x.rank()));
    TensorType one = x;
    one.sizes = {x.sizes[axis]};
    std::vector<Expr> parts = resolve_sizes(c, one, c.dims("sizes"));
    ViewMap map{{}, {}, c.context().constant(0)};
    std::vector<Expr> strides(parts.size());
    Expr step = x.strides[axis];
    for (std::size_t i = parts.size(); i-- > 0;) {
      strides[i] = step;
      step = step * parts[i];
    }
    for (std::size_t i = 0; i < x.sizes.size(); ++i) {
      if (i == axis) {
        map.sizes.insert(map.sizes.end(), parts.begin(), parts.end());
        map.strides.insert(map.strides.end(), strides.begin(), strides.end());
      } else {
        map.sizes.push_back(x.sizes[i]);
        map.strides.push_back(x.strides[i]);
      }
    }
    return map;
  };
  def.samples = [] {
    auto s = [](std::vector<std::int64_t> from, std::int64_t axis, Ints to,
                LayoutKind layout = LayoutKind::contiguous) {
      return Sample{
          {make_array(Dtype::f32, std::move(from), layout)}, {}, {{"axis", axis}, {"sizes", std::move(to)}}, 0, ""};
    };
    return std::vector{s({4, 6}, 1, {2, 3}), s({4, 6}, 0, {-1, 2}), s({12}, 0, {3, 4}, LayoutKind::stepped),
                       s({3, 8}, -1, {2, -1, 2}, LayoutKind::transposed)};
  };
  return def;
}

}  // namespace

void register_reshape() {
  graph::register_op(view_def());
  graph::register_op(reshape());
  graph::register_op(unflatten());
}

}  // namespace stax::ops
