// Tensors put together.
#include <fmt/format.h>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

using Ints = std::vector<std::int64_t>;

OpDef cat() {
  OpDef def;
  def.name = "cat";
  def.doc = "Tensors joined along an axis; the other sizes are equal. Dtypes are promoted.";
  def.params = {{"tensors", ParamKind::tensor_list, {}, "one or more of equal rank"},
                axis_param("axis", "along which", 0)};
  def.infer = [](InferContext& c) {
    if (c.operand_count() == 0) c.error("needs at least one tensor");
    const TensorType& first = c.type(0);
    if (first.rank() == 0) c.error("rank-0 tensors cannot be joined", "Use stack");
    const auto axis = static_cast<std::size_t>(c.axis("axis", first.rank()));
    std::vector<Expr> sizes = first.sizes;
    for (std::size_t i = 1; i < c.operand_count(); ++i) {
      const TensorType& t = c.type(i);
      if (t.rank() != first.rank())
        c.error(fmt::format("tensor {} has rank {}, the first has rank {}", i, t.rank(), first.rank()),
                "The ranks must be equal");
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (d == axis)
          sizes[d] = sizes[d] + t.sizes[d];
        else if (sizes[d] != t.sizes[d] && !c.decide(eq(sizes[d], t.sizes[d]), "sizes beside the axis agree"))
          c.error(fmt::format("shapes {} and {} differ at axis {}", graph::shape_text(first.sizes),
                              graph::shape_text(t.sizes), d),
                  "Sizes may differ along the joined axis alone");
      }
    }
    TensorType t = c.contiguous_type(c.promoted(), std::move(sizes));
    t.device = c.device();
    return std::vector{t};
  };
  def.lower = [](LowerContext& c, const Node& node) {
    const loop::View out = c.make_result(Value{const_cast<Node*>(&node), 0});
    const auto rank = static_cast<std::int64_t>(out.sizes.size());
    const std::int64_t given = std::get<std::int64_t>(node.attributes.at("axis"));
    const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
    const int origin = c.origin(node);
    Expr start = c.context().constant(0);
    for (const Value& v : node.operands) {
      KernelBuilder k(c.program(), "poi_cat");
      k.set_origin(origin);
      const std::vector<Expr> index = k.outer(v.type().sizes);
      k.phase();
      std::vector<Expr> to = index;
      to[axis] = to[axis] + start;
      k.store(out.buffer, c.address(out, to), c.operand(k, v, index, node.types[0].dtype));
      c.emit(k.finish());
      start = start + v.type().sizes[axis];
    }
  };
  def.evaluate = [](EvalContext& c) {
    Array out = c.make_result();
    const auto axis = static_cast<std::size_t>(c.attributes().axis("axis", out.rank()));
    std::int64_t start = 0;
    for (std::size_t i = 0; i < c.operand_count(); ++i) {
      const Array& a = c.operand(i);
      Layout part = out.layout();
      part.sizes = a.sizes();
      part.offset += start * part.strides[axis];
      copy_elements(a, out.with_layout(part));
      start += a.sizes()[axis];
    }
    return std::vector{out};
  };
  def.samples = [] {
    auto a = [](Dtype t, Ints s, unsigned seed, LayoutKind l = LayoutKind::contiguous) {
      return make_array(t, std::move(s), l, Fill::whole, seed);
    };
    std::vector<Sample> samples;
    for (Dtype t : kAllDtypes)
      samples.push_back({{a(t, {3, 5}, 1), a(t, {3, 17}, 2)}, {}, {{"axis", std::int64_t{1}}}, 0, "dtype"});
    samples.push_back({{a(Dtype::f32, {2, 16}, 1), a(Dtype::f32, {0, 16}, 2), a(Dtype::f32, {3, 16}, 3)},
                       {},
                       {{"axis", std::int64_t{0}}},
                       0,
                       "an empty one"});
    samples.push_back(
        {{a(Dtype::i32, {4}, 1), a(Dtype::f32, {19}, 2)}, {}, {{"axis", std::int64_t{-1}}}, 0, "promotion"});
    samples.push_back(
        {{a(Dtype::f32, {5, 7}, 1, LayoutKind::transposed), a(Dtype::f32, {5, 7}, 2, LayoutKind::reversed)},
         {},
         {{"axis", std::int64_t{1}}},
         0,
         "layouts"});
    samples.push_back({{a(Dtype::f32, {5}, 1)}, {}, {}, 0, "one tensor"});
    return samples;
  };
  return def;
}

OpDef stack() {
  OpDef def;
  def.name = "stack";
  def.doc = "Tensors of equal shape joined along a new axis.";
  def.params = {{"tensors", ParamKind::tensor_list, {}, "one or more of equal shape"},
                axis_param("axis", "position of the new axis", 0)};
  def.build = [](Graph& g, InferContext& c) {
    if (c.operand_count() == 0) c.error("needs at least one tensor");
    const std::int64_t axis = c.axis("axis", c.type(0).rank() + 1);
    std::vector<Value> parts;
    for (std::size_t i = 0; i < c.operand_count(); ++i) {
      if (c.type(i).rank() != c.type(0).rank())
        c.error(fmt::format("shapes {} and {} differ", graph::shape_text(c.type(0).sizes),
                            graph::shape_text(c.type(i).sizes)),
                "Stacked tensors need equal shapes");
      for (std::size_t d = 0; d < c.type(0).sizes.size(); ++d)
        if (c.type(i).sizes[d] != c.type(0).sizes[d] &&
            !c.decide(eq(c.type(i).sizes[d], c.type(0).sizes[d]), "stacked shapes agree"))
          c.error(fmt::format("shapes {} and {} differ", graph::shape_text(c.type(0).sizes),
                              graph::shape_text(c.type(i).sizes)),
                  "Stacked tensors need equal shapes");
      parts.push_back(g.add("unsqueeze", {c.operands()[i]}, {{"axis", axis}}, c.where()));
    }
    return std::vector{g.add("cat", parts, {{"axis", axis}}, c.where())};
  };
  def.samples = [] {
    auto a = [](unsigned seed) { return make_array(Dtype::f32, {3, 17}, Fill::small, seed); };
    return std::vector<Sample>{{{a(1), a(2)}, {}, {{"axis", std::int64_t{0}}}, 0, ""},
                               {{a(1), a(2), a(3)}, {}, {{"axis", std::int64_t{-1}}}, 0, ""},
                               {{a(1), a(2)}, {}, {{"axis", std::int64_t{1}}}, 0, ""}};
  };
  return def;
}

OpDef repeat() {
  OpDef def;
  def.name = "repeat";
  def.doc = "The tensor laid side by side `repeats` times along each axis; missing leading axes are added.";
  def.method = true;
  def.params = {tensor("x", "any"), {"repeats", ParamKind::dims, {}, "one number an axis of the result"}};
  def.build = [](Graph& g, InferContext& c) {
    const std::vector<Expr> repeats = c.dims("repeats");
    const TensorType& x = c.type(0);
    if (repeats.size() < x.sizes.size())
      c.error(fmt::format("{} repeats for a tensor of rank {}", repeats.size(), x.rank()));
    const std::size_t skip = repeats.size() - x.sizes.size();
    const Expr one = c.context().constant(1);
    std::vector<Expr> spread, expanded, result;
    for (std::size_t i = 0; i < repeats.size(); ++i) {
      if (auto v = repeats[i].constant(); v && *v < 0) c.error(fmt::format("repeat {} is negative", *v));
      const Expr size = i < skip ? one : x.sizes[i - skip];
      spread.insert(spread.end(), {one, size});
      expanded.insert(expanded.end(), {repeats[i], size});
      result.push_back(repeats[i] * size);
    }
    Value v = g.add("reshape", {c.operands()[0]}, {{"sizes", spread}}, c.where());
    v = g.add("expand", {v}, {{"sizes", expanded}}, c.where());
    v = g.add("clone", {v}, {}, c.where());
    return std::vector{g.add("reshape", {v}, {{"sizes", result}}, c.where())};
  };
  def.samples = [] {
    auto s = [](Ints sizes, Ints repeats) {
      return Sample{{make_array(Dtype::f32, std::move(sizes))}, {}, {{"repeats", std::move(repeats)}}, 0, ""};
    };
    return std::vector{s({3, 5}, {2, 3}), s({7}, {4}), s({7}, {2, 2}), s({}, {3}), s({3}, {0}), s({0, 2}, {2, 1})};
  };
  return def;
}

OpDef flip() {
  OpDef def;
  def.name = "flip";
  def.doc = "The order of the elements reversed along the axes, in new memory.";
  def.method = true;
  def.params = {tensor("x", "any"), axes_param("which; default all")};
  def.infer = [](InferContext& c) {
    (void)c.axes("axes", c.type(0).rank());
    return std::vector{c.pointwise_type(c.type(0).dtype)};
  };
  auto flipped = [](const Node& node) {
    std::vector<bool> f(node.operands[0].type().sizes.size(), false);
    const auto rank = static_cast<std::int64_t>(f.size());
    const Attribute& a = node.attributes.at("axes");
    auto mark = [&](std::int64_t axis) {
      if (rank > 0) f[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
    };
    if (const auto* one = std::get_if<std::int64_t>(&a)) mark(*one);
    const auto* list = std::get_if<Ints>(&a);
    if (list)
      for (std::int64_t axis : *list) mark(axis);
    if (std::holds_alternative<std::monostate>(a) || (list && list->empty())) f.assign(f.size(), true);
    return f;
  };
  def.lower = [flipped](LowerContext& c, const Node& node) {
    const std::vector<bool> f = flipped(node);
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      std::vector<Expr> from(index.begin(), index.end());
      for (std::size_t i = 0; i < from.size(); ++i)
        if (f[i]) from[i] = node.types[0].sizes[i] - 1 - from[i];
      return c.operand(k, node.operands[0], from, node.types[0].dtype);
    });
  };
  def.evaluate = [flipped](EvalContext& c) {
    const std::vector<bool> f = flipped(c.node());
    Layout l = c.operand(0).layout();
    for (std::size_t i = 0; i < f.size(); ++i)
      if (f[i] && l.sizes[i] > 0) {
        l.offset += (l.sizes[i] - 1) * l.strides[i];
        l.strides[i] = -l.strides[i];
      }
    Array out = c.make_result();
    copy_elements(c.operand(0).with_layout(l), out);
    return std::vector{out};
  };
  def.samples = [] {
    auto s = [](Ints sizes, Attribute axes, LayoutKind l = LayoutKind::contiguous) {
      return Sample{{make_array(Dtype::f32, std::move(sizes), l)}, {}, {{"axes", std::move(axes)}}, 0, ""};
    };
    return std::vector{s({17}, Ints{0}),       s({3, 17}, Ints{1}), s({3, 17}, Attribute{}),
                       s({}, std::int64_t{0}), s({0, 3}, Ints{0}),  s({4, 18}, Ints{0}, LayoutKind::transposed)};
  };
  return def;
}

}  // namespace

void register_joining() {
  graph::register_op(cat());
  graph::register_op(stack());
  graph::register_op(repeat());
  graph::register_op(flip());
}

}  // namespace stax::ops
