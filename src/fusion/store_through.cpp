#include "fusion/store_through.h"

#include <optional>

#include "symbolic/analysis.h"

namespace stax::fusion {

namespace {

using loop::BufferId;
using loop::Expr;
using loop::LibraryCall;
using loop::View;

// Whether all that the kernel does is to store what it loads, without conversion.
bool is_copy(const Program& p, const Kernel& k) {
  if (!loop::is_pointwise(k) || k.values.size() != 1 || k.phases[0].stores.size() != 1) return false;
  const loop::Value& v = k.values[0];
  const loop::Store& s = k.phases[0].stores[0];
  return v.op == loop::ScalarOp::load && s.value == 0 &&
         p.buffers[static_cast<std::size_t>(v.buffer)].dtype == p.buffers[static_cast<std::size_t>(s.buffer)].dtype;
}

// What the copy stores of `from`, all of whose elements it must read: the same sizes in the strides of the store.
std::optional<View> copied(const View& from, const Kernel& copy) {
  const loop::Store& store = copy.phases[0].stores[0];
  View to{store.buffer, from.sizes, from.strides, {}};
  Expr read = copy.values[0].index, written = store.index;
  std::vector<bool> found(from.sizes.size(), false);
  for (const loop::Axis& a : copy.outer) {
    const auto load = symbolic::linear_in(read, a.var), put = symbolic::linear_in(written, a.var);
    if (!load || !put) return std::nullopt;
    std::size_t d = 0;
    while (d < found.size() && (found[d] || from.strides[d] != load->coefficient || from.sizes[d] != a.extent)) ++d;
    if (d == found.size()) return std::nullopt;
    found[d] = true;
    to.strides[d] = put->coefficient;
    read = load->rest, written = put->rest;
  }
  for (std::size_t d = 0; d < found.size(); ++d)
    if (!found[d] && !from.sizes[d].is_constant(1)) return std::nullopt;
  if (read != from.offset || !to.strides.back().is_constant(1)) return std::nullopt;
  to.offset = written;
  return to;
}

}  // namespace

void store_through_copies(const Program& program, ItemGraph& graph) {
  for (int n = 0; n < graph.size(); ++n) {
    if (!graph.alive(n) || graph.kernel(n)) continue;
    LibraryCall call = std::get<LibraryCall>(graph.item(n));
    const BufferId result = call.out.buffer;
    const auto& readers = graph.readers(result);
    if (graph.is_kept(result) || readers.size() != 1 || graph.writers(result).size() != 1) continue;
    const int reader = readers[0];
    const Kernel* copy = graph.kernel(reader);
    if (!copy || !is_copy(program, *copy)) continue;
    const auto to = copied(call.out, *copy);
    if (!to || program.buffers[static_cast<std::size_t>(to->buffer)].kind == loop::BufferKind::input) continue;
    if (graph.writers(to->buffer).size() != 1 || graph.path_around(n, reader)) continue;
    call.out = *to;
    graph.join(n, reader, std::move(call));
  }
}

}  // namespace stax::fusion
