// Views: the same memory behind other sizes, strides and offset.
#include <fmt/format.h>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

OpDef view_op(const char* name, const char* doc, std::vector<Param> params) {
  OpDef def;
  def.name = name;
  def.doc = doc;
  def.method = true;
  def.params = std::move(params);
  return def;
}

Expr zero(const InferContext& c) { return c.context().constant(0); }

Sample sample(std::vector<std::int64_t> sizes, Attributes attributes, LayoutKind layout = LayoutKind::contiguous) {
  return {{make_array(Dtype::f32, std::move(sizes), layout)}, {}, std::move(attributes), 0, ""};
}
using Ints = std::vector<std::int64_t>;

OpDef permute() {
  OpDef def = view_op("permute", "Axes in another order: result axis i is x's axis order[i].",
                      {tensor("x", "any"), {"order", ParamKind::axes, {}, "a permutation of the axes"}});
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    const Attribute& a = c.attribute("order");
    const auto* order = std::get_if<Ints>(&a);
    if (!order || order->size() != x.sizes.size())
      c.error(fmt::format("the order must name each of the {} axes once", x.rank()));
    std::vector<bool> seen(x.sizes.size());
    ViewMap map{{}, {}, zero(c)};
    for (std::int64_t o : *order) {
      const int axis = c.checked_axis(o, x.rank());
      const auto i = static_cast<std::size_t>(axis);
      if (seen[i]) c.error(fmt::format("axis {} is given twice", axis), "Name every axis once");
      seen[i] = true;
      map.sizes.push_back(x.sizes[i]);
      map.strides.push_back(x.strides[i]);
    }
    return map;
  };
  def.samples = [] {
    return std::vector{sample({3, 4, 5}, {{"order", Ints{2, 0, 1}}}), sample({3, 4}, {{"order", Ints{-1, 0}}}),
                       sample({}, {{"order", Ints{}}}), sample({2, 0, 3}, {{"order", Ints{1, 2, 0}}}),
                       sample({3, 4, 5}, {{"order", Ints{0, 2, 1}}}, LayoutKind::stepped)};
  };
  return def;
}

OpDef transpose() {
  OpDef def = view_op("transpose", "Two axes exchanged.",
                      {tensor("x", "any"), axis_param("axis0", "one axis"), axis_param("axis1", "the other axis")});
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    ViewMap map{x.sizes, x.strides, zero(c)};
    const auto a = static_cast<std::size_t>(c.axis("axis0", x.rank())),
               b = static_cast<std::size_t>(c.axis("axis1", x.rank()));
    if (x.rank() > 0) {
      std::swap(map.sizes[a], map.sizes[b]);
      std::swap(map.strides[a], map.strides[b]);
    }
    return map;
  };
  def.samples = [] {
    return std::vector{sample({3, 4, 5}, {{"axis0", std::int64_t{0}}, {"axis1", std::int64_t{-1}}}),
                       sample({6, 7}, {{"axis0", std::int64_t{1}}, {"axis1", std::int64_t{0}}}),
                       sample({}, {{"axis0", std::int64_t{0}}, {"axis1", std::int64_t{-1}}})};
  };
  return def;
}

OpDef t() {
  OpDef def =
      view_op("t", "The transpose of a tensor of rank 2; rank 0 and 1 unchanged.", {tensor("x", "rank at most 2")});
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    if (x.rank() > 2)
      c.error(fmt::format("takes a tensor of rank at most 2, not {}", x.rank()), "Use transpose(x, axis0, axis1)");
    ViewMap map{x.sizes, x.strides, zero(c)};
    std::reverse(map.sizes.begin(), map.sizes.end());
    std::reverse(map.strides.begin(), map.strides.end());
    return map;
  };
  def.samples = [] {
    return std::vector{sample({3, 4}, {}), sample({5}, {}), sample({}, {}), sample({1, 7}, {}),
                       sample({4, 6}, {}, LayoutKind::reversed)};
  };
  return def;
}

OpDef expand() {
  OpDef def = view_op("expand", "Axes of size 1, and new leading axes, repeated by stride 0; -1 keeps a size.",
                      {tensor("x", "any"), {"sizes", ParamKind::dims, {}, "of the result"}});
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    std::vector<Expr> sizes = c.dims("sizes");
    if (sizes.size() < x.sizes.size()) c.error(fmt::format("{} sizes for a tensor of rank {}", sizes.size(), x.rank()));
    ViewMap map{{}, {}, zero(c)};
    const std::size_t skip = sizes.size() - x.sizes.size();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (i < skip) {
        if (sizes[i].is_constant(-1)) c.error(fmt::format("-1 at the new axis {} has no size to keep", i));
        map.sizes.push_back(sizes[i]);
        map.strides.push_back(zero(c));
        continue;
      }
      const Expr size = x.sizes[i - skip], stride = x.strides[i - skip];
      if (sizes[i].is_constant(-1) || sizes[i] == size || c.decide(eq(sizes[i], size), "the size is kept")) {
        map.sizes.push_back(size);
        map.strides.push_back(stride);
      } else if (size.is_constant(1) || c.decide(eq(size, 1), "a size of 1 expands")) {
        map.sizes.push_back(sizes[i]);
        map.strides.push_back(zero(c));
      } else {
        c.error(fmt::format("cannot expand shape {} to {}: axis {} has size {}, not 1", graph::shape_text(x.sizes),
                            graph::shape_text(sizes), i - skip, symbolic::to_string(size)),
                "Only axes of size 1 expand");
      }
    }
    return map;
  };
  def.samples = [] {
    return std::vector{sample({1, 7}, {{"sizes", Ints{5, 7}}}), sample({3, 1}, {{"sizes", Ints{2, -1, 4}}}),
                       sample({}, {{"sizes", Ints{3}}}), sample({1}, {{"sizes", Ints{0}}}),
                       sample({4}, {{"sizes", Ints{4}}})};
  };
  return def;
}

OpDef squeeze() {
  OpDef def = view_op("squeeze", "Axes of size 1 removed: all of them, or those given (an axis of another size stays).",
                      {tensor("x", "any"), axes_param("which; default all of size 1")});
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    const std::vector<int> axes = c.axes("axes", x.rank());
    ViewMap map{{}, {}, zero(c)};
    for (int i = 0; i < x.rank(); ++i) {
      const Expr size = x.sizes[static_cast<std::size_t>(i)];
      const bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
      if (named && (size.is_constant(1) || c.decide(eq(size, 1), "the axis has size 1"))) continue;
      map.sizes.push_back(size);
      map.strides.push_back(x.strides[static_cast<std::size_t>(i)]);
    }
    return map;
  };
  def.samples = [] {
    return std::vector{sample({1, 3, 1}, {}), sample({1, 3, 1}, {{"axes", Ints{0}}}),
                       sample({2, 3}, {{"axes", std::int64_t{-1}}}), sample({1, 1}, {})};
  };
  return def;
}

OpDef unsqueeze() {
  OpDef def = view_op("unsqueeze", "A new axis of size 1 before `axis` (in [-rank-1, rank]).",
                      {tensor("x", "any"), axis_param("axis", "position of the new axis")});
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    const auto at = static_cast<std::size_t>(c.axis("axis", x.rank() + 1));
    ViewMap map{x.sizes, x.strides, zero(c)};
    const Expr stride = at < x.sizes.size() ? x.sizes[at] * x.strides[at] : c.context().constant(1);
    map.sizes.insert(map.sizes.begin() + static_cast<std::ptrdiff_t>(at), c.context().constant(1));
    map.strides.insert(map.strides.begin() + static_cast<std::ptrdiff_t>(at), stride);
    return map;
  };
  def.samples = [] {
    return std::vector{sample({3, 4}, {{"axis", std::int64_t{0}}}), sample({3, 4}, {{"axis", std::int64_t{-1}}}),
                       sample({3, 4}, {{"axis", std::int64_t{1}}}), sample({}, {{"axis", std::int64_t{0}}})};
  };
  return def;
}

// A bound of a slice clipped to [0, size]: negative counts from the end.
Expr clip_bound(InferContext& c, Expr bound, Expr size, std::int64_t lowest) {
  if (c.decide(lt(bound, 0), "the slice's bound counts from the end")) bound = bound + size;
  if (c.decide(lt(bound, lowest), "the slice's bound is before the start")) return c.context().constant(lowest);
  return bound;
}

OpDef slice() {
  OpDef def = view_op("slice",
                      "Elements start, start + step, … before stop along an axis. Negative bounds count from the end, "
                      "bounds outside are clipped, "
                      "a negative step runs backwards.",
                      {tensor("x", "any"),
                       axis_param("axis", "which", 0),
                       {"start", ParamKind::optional_dim, Attribute{}, "first index"},
                       {"stop", ParamKind::optional_dim, Attribute{}, "end, exclusive"},
                       {"step", ParamKind::integer, std::int64_t{1}, "not 0"}});
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    if (x.rank() == 0) c.error("a rank-0 tensor cannot be sliced");
    const auto axis = static_cast<std::size_t>(c.axis("axis", x.rank()));
    const Expr size = x.sizes[axis];
    const std::int64_t step = c.integer("step");
    if (step == 0) c.error("the step is 0", "Use a step of 1 or more, or a negative one");
    ViewMap map{x.sizes, x.strides, zero(c)};
    Expr start, length;
    if (step > 0) {
      start = c.none("start") ? zero(c) : clip_bound(c, c.dim("start"), size, 0);
      if (!c.none("start") && c.decide(gt(start, size), "the slice starts past the end")) start = size;
      Expr stop = c.none("stop") ? size : clip_bound(c, c.dim("stop"), size, 0);
      if (!c.none("stop") && c.decide(gt(stop, size), "the slice stops past the end")) stop = size;
      const Expr span = stop - start;
      length = c.decide(lt(span, 0), "the slice is empty") ? zero(c) : ceildiv(span, step);
    } else {
      start = c.none("start") ? size - 1 : clip_bound(c, c.dim("start"), size, -1);
      if (!c.none("start") && c.decide(ge(start, size), "the slice starts past the end")) start = size - 1;
      Expr stop = c.none("stop") ? c.context().constant(-1) : clip_bound(c, c.dim("stop"), size, -1);
      if (!c.none("stop") && c.decide(ge(stop, size), "the slice stops past the end")) stop = size - 1;
      const Expr span = start - stop;
      length = c.decide(le(span, 0), "the slice is empty") ? zero(c) : ceildiv(span, -step);
    }
    map.sizes[axis] = length;
    if (!length.is_constant(0)) map.offset = start * x.strides[axis];
    map.strides[axis] = x.strides[axis] * step;
    return map;
  };
  def.samples = [] {
    auto s = [](std::vector<std::int64_t> sizes, std::int64_t axis, Attribute start, Attribute stop,
                std::int64_t step) {
      return sample(std::move(sizes),
                    {{"axis", axis}, {"start", std::move(start)}, {"stop", std::move(stop)}, {"step", step}});
    };
    const Attribute none{};
    using I = std::int64_t;
    return std::vector{s({9}, 0, I{1}, I{-1}, 1),     s({9}, 0, none, none, 2),    s({9}, 0, none, none, -1),
                       s({9, 4}, -1, I{-3}, none, 1), s({9}, 0, I{5}, I{2}, 1),    s({9}, 0, I{-100}, I{100}, 3),
                       s({9}, 0, I{7}, I{1}, -2),     s({0}, 0, none, none, 1),    s({0}, 0, none, none, -1),
                       s({5}, 0, I{5}, none, 1),      s({5}, 0, I{2}, I{-100}, -1)};
  };
  return def;
}

OpDef select() {
  OpDef def =
      view_op("select", "The sub-tensor at one index of an axis; negative counts from the end.",
              {tensor("x", "any"), axis_param("axis", "which"), {"index", ParamKind::dim, {}, "in [-size, size)"}});
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    if (x.rank() == 0) c.error("a rank-0 tensor has no axis to select from");
    const auto axis = static_cast<std::size_t>(c.axis("axis", x.rank()));
    const Expr size = x.sizes[axis];
    const Expr given = c.dim("index");
    Expr index = given;
    if (c.decide(lt(index, 0), "the index counts from the end")) index = index + size;
    if (!c.decide(ge(index, 0) && lt(index, size), "the index is in range"))
      c.error(fmt::format("index {} is out of range for axis {} of size {}", symbolic::to_string(given), axis,
                          graph::size_text(size)),
              "Use an index from -size to size - 1");
    ViewMap map{x.sizes, x.strides, index * x.strides[axis]};
    map.sizes.erase(map.sizes.begin() + static_cast<std::ptrdiff_t>(axis));
    map.strides.erase(map.strides.begin() + static_cast<std::ptrdiff_t>(axis));
    return map;
  };
  def.samples = [] {
    using I = std::int64_t;
    return std::vector{sample({5, 2}, {{"axis", I{0}}, {"index", I{3}}}),
                       sample({5, 2}, {{"axis", I{1}}, {"index", I{-1}}}),
                       sample({4}, {{"axis", I{0}}, {"index", I{0}}})};
  };
  return def;
}

OpDef as_strided() {
  OpDef def = view_op("as_strided",
                      "Sizes and strides given outright; `offset` counts elements from x's first element. Every "
                      "element must lie in x's memory.",
                      {tensor("x", "any"),
                       {"sizes", ParamKind::dims, {}, "of the result"},
                       {"strides", ParamKind::dims, {}, "of the result, in elements"},
                       {"offset", ParamKind::dim, std::int64_t{0}, "from x's first element"}});
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    ViewMap map{c.dims("sizes"), c.dims("strides"), c.dim("offset")};
    if (map.sizes.size() != map.strides.size())
      c.error(fmt::format("{} sizes and {} strides", map.sizes.size(), map.strides.size()));
    // Reach of the view against the reach of x itself (which is inside its memory).
    Expr low = map.offset, high = map.offset, x_low = zero(c), x_high = zero(c);
    auto reach = [&](const std::vector<Expr>& sizes, const std::vector<Expr>& strides, Expr& lo, Expr& hi) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (c.decide(eq(sizes[i], 0), "the view is empty")) return false;
        Expr& end = c.decide(lt(strides[i], 0), "the stride is negative") ? lo : hi;
        end = end + (sizes[i] - 1) * strides[i];
      }
      return true;
    };
    if (reach(map.sizes, map.strides, low, high)) {
      const bool full = reach(x.sizes, x.strides, x_low, x_high);
      if (!full || !c.decide(ge(low, x_low) && le(high, x_high), "the view lies inside the operand's memory"))
        c.error(fmt::format("sizes {}, strides {}, offset {} reach outside the operand of shape {}",
                            graph::shape_text(map.sizes), graph::shape_text(map.strides),
                            symbolic::to_string(map.offset), graph::shape_text(x.sizes)));
    }
    return map;
  };
  def.samples = [] {
    return std::vector{sample({12}, {{"sizes", Ints{3, 2}}, {"strides", Ints{4, 1}}, {"offset", std::int64_t{1}}}),
                       sample({12}, {{"sizes", Ints{5, 3}}, {"strides", Ints{2, 1}}, {"offset", std::int64_t{0}}}),
                       sample({7}, {{"sizes", Ints{7}}, {"strides", Ints{-1}}, {"offset", std::int64_t{6}}})};
  };
  return def;
}

OpDef diagonal() {
  OpDef def = view_op("diagonal", "The diagonal of two axes, as a new last axis; offset > 0 lies above the main one.",
                      {tensor("x", "rank 2 or more"),
                       {"offset", ParamKind::integer, std::int64_t{0}, "which diagonal"},
                       axis_param("axis0", "rows", 0),
                       axis_param("axis1", "columns", 1)});
  def.view = [](InferContext& c) {
    const TensorType& x = c.type(0);
    if (x.rank() < 2) c.error(fmt::format("takes a tensor of rank 2 or more, not {}", x.rank()));
    const auto a = static_cast<std::size_t>(c.axis("axis0", x.rank())),
               b = static_cast<std::size_t>(c.axis("axis1", x.rank()));
    if (a == b) c.error(fmt::format("axis {} is given twice", a));
    const std::int64_t offset = c.integer("offset");
    const Expr rows = offset < 0 ? x.sizes[a] + offset : x.sizes[a],
               columns = offset > 0 ? x.sizes[b] - offset : x.sizes[b];
    ViewMap map{{}, {}, zero(c)};
    for (std::size_t i = 0; i < x.sizes.size(); ++i) {
      if (i == a || i == b) continue;
      map.sizes.push_back(x.sizes[i]);
      map.strides.push_back(x.strides[i]);
    }
    Expr length = c.decide(le(rows, columns), "rows are the shorter side of the diagonal") ? rows : columns;
    if (c.decide(lt(length, 0), "the diagonal is empty"))
      length = zero(c);
    else
      map.offset = offset >= 0 ? x.strides[b] * offset : x.strides[a] * -offset;
    map.sizes.push_back(length);
    map.strides.push_back(x.strides[a] + x.strides[b]);
    return map;
  };
  def.samples = [] {
    auto o = [](std::int64_t v) { return Attributes{{"offset", v}}; };
    return std::vector{sample({4, 4}, {}), sample({4, 6}, o(2)), sample({4, 6}, o(-1)), sample({3, 2}, o(5)),
                       sample({3, 4, 5}, {{"axis0", std::int64_t{2}}, {"axis1", std::int64_t{0}}})};
  };
  return def;
}

}  // namespace

void register_views() {
  graph::register_op(permute());
  graph::register_op(transpose());
  graph::register_op(t());
  graph::register_op(expand());
  graph::register_op(squeeze());
  graph::register_op(unsqueeze());
  graph::register_op(slice());
  graph::register_op(select());
  graph::register_op(as_strided());
  graph::register_op(diagonal());
}

}  // namespace stax::ops
