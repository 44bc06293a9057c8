#include <fmt/format.h>

#include "graph/op_def.h"

namespace stax::graph {

const loop::View& LowerContext::view(const Value& v) const {
  auto it = views_.find({v.node, v.result});
  STAX_CHECK(it != views_.end(), fmt::format("no buffer for %{} ({})", v.node->id, v.node->op->name));
  return it->second;
}
void LowerContext::bind(const Value& v, loop::View view) { views_[{v.node, v.result}] = std::move(view); }
int LowerContext::scalar_position(const Value& v) const { return scalars_.at(v.node); }
void LowerContext::bind_scalar(const Value& v, int position) { scalars_[v.node] = position; }

int LowerContext::scalar_slot(const Value& v) {
  if (v.node->op->name == "input") return scalar_position(v);
  const Attribute& a = v.node->attributes.at("value");
  loop::ScalarInput derived{fmt::format("derived{}", program_.scalars.size()), v.type().dtype, {}};
  if (const auto* e = std::get_if<Expr>(&a))
    derived.value = *e;
  else if (const auto* i = std::get_if<std::int64_t>(&a))
    derived.value = context().constant(*i);
  else
    STAX_CHECK(false, "a derived scalar is a whole number");
  program_.scalars.push_back(std::move(derived));
  return static_cast<int>(program_.scalars.size()) - 1;
}

loop::BufferId LowerContext::add_buffer(Dtype dtype, std::vector<Expr> sizes, std::vector<Expr> strides) {
  const int id = static_cast<int>(program_.buffers.size());
  program_.buffers.push_back(loop::Buffer{fmt::format("b{}", id), dtype, std::move(sizes), std::move(strides),
                                          loop::BufferKind::temporary, -1, false});
  return id;
}

loop::View LowerContext::make_result(const Value& v) {
  const TensorType& t = v.type();
  loop::View view{add_buffer(t.dtype, t.sizes, t.strides), t.sizes, t.strides, context().constant(0)};
  bind(v, view);
  return view;
}

int LowerContext::origin(const Node& node) {
  program_.origins.push_back({node.op->name, node.where});
  return static_cast<int>(program_.origins.size()) - 1;
}

bool LowerContext::is_one(Expr size) const { return size.is_constant(1) || env().is_always(eq(size, 1)); }

Expr LowerContext::address(const loop::View& view, std::span<const Expr> index) const {
  Expr a = view.offset;
  const std::size_t skip = index.size() - view.sizes.size();
  for (std::size_t d = 0; d < view.sizes.size(); ++d) {
    if (is_one(view.sizes[d])) continue;
    a = a + index[d + skip] * view.strides[d];
  }
  return a;
}

loop::ValueId LowerContext::operand(loop::KernelBuilder& k, const Value& v, std::span<const Expr> index, Dtype dtype) {
  const TensorType& t = v.type();
  if (!t.scalar) return k.cast(k.load(view(v).buffer, address(view(v), index)), dtype);
  if (v.node->op->name == "size") return k.cast(k.index(std::get<Expr>(v.node->attributes.at("value"))), dtype);
  if (v.node->op->name == "literal") {
    const Attribute& a = v.node->attributes.at("value");
    const Dtype compute = compute_dtype(dtype);
    loop::ValueId value;
    if (const auto* d = std::get_if<double>(&a)) {
      value = is_floating(compute) ? k.constant(*d, compute) : k.cast(k.constant(*d, Dtype::f64), compute);
    } else {
      const bool* b = std::get_if<bool>(&a);
      const std::int64_t i = b ? *b : std::get<std::int64_t>(a);
      value = k.cast(k.constant_int(i, Dtype::i64), compute);
    }
    return k.cast(value, dtype);
  }
  return k.cast(k.scalar(scalar_position(v), t.dtype), dtype);
}

void LowerContext::pointwise(const Node& node,
                             const std::function<loop::ValueId(loop::KernelBuilder&, std::span<const Expr>)>& body) {
  const loop::View out = make_result(Value{const_cast<Node*>(&node), 0});
  loop::KernelBuilder k(program_, "poi_" + node.op->name);
  k.set_origin(origin(node));
  const std::vector<Expr> index = k.outer(out.sizes);
  k.phase();
  const loop::ValueId value = body(k, index);
  k.store(out.buffer, address(out, index), value);
  emit(k.finish());
}

void LowerContext::emit(loop::Item item) { program_.items.push_back(std::move(item)); }

}  // namespace stax::graph
