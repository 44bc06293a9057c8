#include "passes/lower.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "graph/op_def.h"

namespace stax::passes {

namespace {

using graph::Graph;
using graph::LowerContext;
using graph::Node;
using graph::TensorType;
using graph::Value;
using loop::Expr;

loop::View view_through(LowerContext& c, const Node& node) {
  loop::View v = c.view(node.operands[0]);
  v.sizes = node.types[0].sizes;
  v.strides = node.types[0].strides;
  v.offset = v.offset + node.view_offset;
  return v;
}

void add_inputs(LowerContext& c, const Graph& g) {
  loop::Program& p = c.program();
  int tensors = 0;
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const TensorType& t = g.inputs[i].type();
    if (t.scalar) {
      c.bind_scalar(g.inputs[i], static_cast<int>(p.scalars.size()));
      p.scalars.push_back({g.input_names[i], t.dtype, {}});
      continue;
    }
    const loop::BufferId b = c.add_buffer(t.dtype, t.sizes, t.strides);
    p.buffers[static_cast<std::size_t>(b)].kind = loop::BufferKind::input;
    p.buffers[static_cast<std::size_t>(b)].input = tensors++;
    c.bind(g.inputs[i], {b, t.sizes, t.strides, p.context->constant(0)});
  }
}

// Stores `value` into the written input. Everything that reads the input was emitted before; a value that is itself a
// view of a written input was copied by the caller.
void write_back(LowerContext& c, const loop::View& target, const graph::Mutation& m) {
  const loop::View source = c.view(m.value);
  loop::Program& p = c.program();
  p.buffers[static_cast<std::size_t>(target.buffer)].written_input = true;
  if (source.buffer == target.buffer && source.sizes == target.sizes && source.strides == target.strides &&
      source.offset == target.offset)
    return;
  loop::KernelBuilder k(p, "poi_write");
  k.set_origin(c.origin(*m.value.node));
  const std::vector<Expr> index = k.outer(target.sizes);
  k.phase();
  k.store(target.buffer, c.address(target, index), k.load(source.buffer, c.address(source, index)));
  c.emit(k.finish());
}

// A view of `buffer` as a fresh row-major buffer.
loop::View materialise(LowerContext& c, const Value& v, const loop::View& from) {
  const Dtype dtype = c.program().buffers[static_cast<std::size_t>(from.buffer)].dtype;
  const std::vector<Expr> strides = graph::row_major_strides(c.context(), from.sizes);
  const loop::View to{c.add_buffer(dtype, from.sizes, strides), from.sizes, strides, c.context().constant(0)};
  loop::KernelBuilder k(c.program(), "poi_copy");
  k.set_origin(c.origin(*v.node));
  const std::vector<Expr> index = k.outer(from.sizes);
  k.phase();
  k.store(to.buffer, c.address(to, index), k.load(from.buffer, c.address(from, index)));
  c.emit(k.finish());
  return to;
}

}  // namespace

loop::Program lower(const Graph& g, const LowerOptions& options) {
  loop::Program p;
  p.name = g.name;
  p.context = g.shared_context();
  for (const symbolic::SizeSymbol& s : g.env().symbols()) p.sizes.push_back(s.symbol);
  LowerContext c(p, g.env());
  c.checks = options.index_checks;
  add_inputs(c, g);
  for (const Node* node : g.nodes()) {
    const std::string& op = node->op->name;
    if (op == "input" || op == "literal" || op == "size") continue;
    if (node->op->is_view()) {
      c.bind(Value{const_cast<Node*>(node), 0}, view_through(c, *node));
      continue;
    }
    STAX_CHECK(static_cast<bool>(node->op->lower),
               "lowering: " + op + " is not primitive; run the pass decompose first");
    node->op->lower(c, *node);
  }

  // A written value or an output that sees a written input would change under the writes: it is copied first.
  std::unordered_set<loop::BufferId> written;
  std::vector<loop::View> targets;  // an input that is an output itself is bound to its copy below
  for (const Value& v : g.inputs) targets.push_back(v.type().scalar ? loop::View{} : c.view(v));
  std::vector<loop::View> shown;  // outputs that are memory of a written input
  for (std::size_t i = 0; i < g.outputs.size(); ++i)
    shown.push_back(g.output_input(i) < 0 ? loop::View{} : c.view(g.outputs[i]));
  for (const graph::Mutation& m : g.mutations) written.insert(targets[static_cast<std::size_t>(m.input)].buffer);
  for (const graph::Mutation& m : g.mutations) {
    const loop::View source = c.view(m.value), target = targets[static_cast<std::size_t>(m.input)];
    const bool unchanged =
        source.buffer == target.buffer && source.offset == target.offset && source.strides == target.strides;
    if (written.contains(source.buffer) && !unchanged) c.bind(m.value, materialise(c, m.value, source));
  }
  for (std::size_t i = 0; i < g.outputs.size(); ++i) {
    const loop::View view = c.view(g.outputs[i]);
    if (g.output_input(i) < 0 && written.contains(view.buffer))
      c.bind(g.outputs[i], materialise(c, g.outputs[i], view));
  }
  for (const graph::Mutation& m : g.mutations) write_back(c, targets[static_cast<std::size_t>(m.input)], m);

  for (std::size_t i = 0; i < g.outputs.size(); ++i) {
    const loop::View view = g.output_input(i) < 0 ? c.view(g.outputs[i]) : shown[i];
    p.outputs.push_back(view);
    loop::Buffer& b = p.buffers[static_cast<std::size_t>(view.buffer)];
    if (b.kind == loop::BufferKind::temporary) b.kind = loop::BufferKind::output;
  }
  p.facts = g.env().facts();
  return p;
}

}  // namespace stax::passes
