// Lookup by index tensors.
#include <fmt/format.h>

#include "ops/ops.h"
#include "ops/samples.h"

namespace stax::ops {

namespace {

OpDef embedding() {
  OpDef def;
  def.name = "embedding";
  def.doc = "Rows of a table: result[i…] = table[indices[i…]]. An index outside [0, rows) is an error.";
  def.params = {tensor("table", "rank 2: [rows, width]"), tensor("indices", "an integer tensor of any shape")};
  def.infer = [](InferContext& c) {
    if (c.type(0).rank() != 2) c.error(fmt::format("the table has rank {}, not 2", c.type(0).rank()));
    if (!is_integral(c.type(1).dtype))
      c.error("the indices are " + to_string(c.type(1).dtype) + ", not integers", "Cast with .to(stax::i64)");
    std::vector<Expr> sizes = c.type(1).sizes;
    sizes.push_back(c.type(0).sizes[1]);
    TensorType t = c.contiguous_type(c.type(0).dtype, std::move(sizes));
    t.device = c.device();
    return std::vector{t};
  };
  def.lower = [](LowerContext& c, const Node& node) {
    c.pointwise(node, [&](KernelBuilder& k, Index index) {
      const ValueId row = k.bounded(c.operand(k, node.operands[1], index.first(index.size() - 1), Dtype::i64),
                                    node.operands[0].type().sizes[0], false, c.checks);
      const std::vector<Expr> at{k.symbol_of(row), index.back()};
      return c.operand(k, node.operands[0], at, node.types[0].dtype);
    });
  };
  def.evaluate = [](EvalContext& c) {
    const Array &table = c.operand(0), &indices = c.operand(1);
    Array out = c.make_result();
    Layout from{{table.size(1)}, {table.strides()[1]}, 0};
    for_each_index(std::span(indices.sizes().data(), indices.sizes().size()), [&](std::span<const std::int64_t> at) {
      const std::int64_t row = read_i64(indices, at);
      if (row < 0 || row >= table.size(0)) c.error(fmt::format("index {} is out of range [0, {})", row, table.size(0)));
      from.offset = table.offset() + row * table.strides()[0];
      Layout to{{out.sizes().back()}, {out.strides().back()}, out.offset()};
      for (std::size_t d = 0; d < at.size(); ++d) to.offset += at[d] * out.strides()[d];
      copy_elements(table.with_layout(from), out.with_layout(to));
    });
    return std::vector{out};
  };
  def.samples = [] {
    auto ids = [](Dtype t, std::vector<std::int64_t> sizes, std::int64_t rows) {
      Array a = Array::empty(sizes, Dtype::i64);
      for (std::int64_t i = 0; i < a.numel(); ++i) a.data_as<std::int64_t>()[i] = (i * 7 + 3) % rows;
      return cast_copy(a, t);
    };
    std::vector<Sample> samples;
    for (Dtype t : kAllDtypes)
      samples.push_back(
          {{make_array(t, {11, 17}, Fill::whole), ids(Dtype::i64, {3, 4}, 11)}, {}, {}, 0, "table dtype"});
    for (Dtype t : {Dtype::i32, Dtype::u8, Dtype::i16})
      samples.push_back({{make_array(Dtype::f32, {11, 33}), ids(t, {5}, 11)}, {}, {}, 0, "index dtype"});
    samples.push_back({{make_array(Dtype::f32, {11, 16}), ids(Dtype::i64, {}, 11)}, {}, {}, 0, "one index"});
    samples.push_back({{make_array(Dtype::f32, {11, 16}), ids(Dtype::i64, {0}, 11)}, {}, {}, 0, "no index"});
    samples.push_back({{make_array(Dtype::f32, {11, 18}, LayoutKind::transposed), ids(Dtype::i64, {2, 9}, 11)},
                       {},
                       {},
                       0,
                       "transposed table"});
    return samples;
  };
  return def;
}

}  // namespace

void register_indexing() { graph::register_op(embedding()); }

}  // namespace stax::ops
