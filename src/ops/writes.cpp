// Writes as functions: what tracing makes of in-place operators.
#include <fmt/format.h>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

using Ints = std::vector<std::int64_t>;

// The base with the elements of one of its views replaced. Distinct elements of the view lie at distinct places.
OpDef strided_write() {
  OpDef def;
  def.name = "strided_write";
  def.internal = true;
  def.doc =
      "A copy of x whose elements at offset + Σ index·strides are those of `source`. The strides count in x's own "
      "memory, and reach only "
      "elements of x; no element is reached twice.";
  def.params = {tensor("x", "the base, dense"),
                tensor("source", "the new elements"),
                {"strides", ParamKind::dims, {}, "one an axis of source"},
                {"offset", ParamKind::dim, std::int64_t{0}, "from x's first element"}};
  def.infer = [](InferContext& c) {
    if (c.type(0).dtype != c.type(1).dtype) c.error("the source has another dtype");
    if (c.dims("strides").size() != c.type(1).sizes.size()) c.error("the strides do not fit the source");
    TensorType t = c.type(0);
    t.device = c.device();
    return std::vector{t};
  };
  def.lower = [](LowerContext& c, const Node& node) {
    const Value result{const_cast<Node*>(&node), 0};
    const Value &x = node.operands[0], &source = node.operands[1];
    const loop::View out = c.make_result(result);
    const int origin = c.origin(node);
    KernelBuilder copy(c.program(), "poi_copy");
    copy.set_origin(origin);
    std::vector<Expr> index = copy.outer(out.sizes);
    copy.phase();
    copy.store(out.buffer, c.address(out, index), c.operand(copy, x, index, x.type().dtype));
    c.emit(copy.finish());
    KernelBuilder write(c.program(), "poi_write");
    write.set_origin(origin);
    index = write.outer(source.type().sizes);
    write.phase();
    InferContext attributes(*node.op, node.operands, node.attributes, const_cast<symbolic::ShapeEnv&>(c.env()),
                            node.where);
    const loop::View region{out.buffer, source.type().sizes, attributes.dims("strides"), attributes.dim("offset")};
    write.store(out.buffer, c.address(region, index), c.operand(write, source, index, x.type().dtype));
    c.emit(write.finish());
  };
  def.evaluate = [](EvalContext& c) {
    Array out = c.make_result();
    copy_elements(c.operand(0), out);
    const Array& source = c.operand(1);
    Layout region{source.sizes(), {}, out.offset() + c.attributes().dim("offset").constant().value()};
    for (std::int64_t s : c.dims("strides")) region.strides.push_back(s);
    copy_elements(source, out.with_layout(region));
    return std::vector{out};
  };
  def.samples = [] {
    std::vector<Sample> samples;
    auto s = [&](Ints base, Ints source, Ints strides, std::int64_t offset, Dtype t = Dtype::f32) {
      samples.push_back(
          {{make_array(t, std::move(base), Fill::whole), make_array(t, std::move(source), Fill::whole, 2)},
           {},
           {{"strides", std::move(strides)}, {"offset", offset}},
           0,
           ""});
    };
    s({6}, {6}, {-1}, 5);
    s({4, 17}, {4}, {17}, 3);
    s({4, 17}, {2, 17}, {34, 1}, 17);
    s({4, 16}, {0}, {1}, 0);
    s({5}, {}, {}, 2, Dtype::bf16);
    return samples;
  };
  return def;
}

}  // namespace

void register_writes() { graph::register_op(strided_write()); }

}  // namespace stax::ops
