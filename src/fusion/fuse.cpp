#include <algorithm>
#include <map>
#include <set>

#include "fusion/assemble.h"
#include "fusion/fusion.h"
#include "fusion/inline.h"
#include "fusion/item_graph.h"
#include "fusion/join.h"
#include "fusion/kernel_form.h"
#include "fusion/store_through.h"

namespace stax::fusion {

using loop::BufferId;
using loop::Item;
using loop::LibraryCall;

namespace {

// Items whose results nothing needs.
void remove_dead_items(ItemGraph& graph) {
  for (int n = graph.size() - 1; n >= 0; --n) {
    if (!graph.alive(n)) continue;
    const auto& writes = graph.writes(n);
    const bool needed = std::any_of(writes.begin(), writes.end(), [&](BufferId b) {
      const auto& r = graph.readers(b);
      return graph.is_kept(b) || std::any_of(r.begin(), r.end(), [&](int x) { return x != n; });
    });
    if (!needed) graph.remove(n);
  }
}

void rename_buffers(Item& item, const std::vector<BufferId>& map) {
  const auto rename = [&](BufferId& b) {
    if (b >= 0) b = map[static_cast<std::size_t>(b)];
  };
  if (auto* k = std::get_if<Kernel>(&item)) {
    for (loop::Value& v : k->values)
      if (v.op == loop::ScalarOp::load) rename(v.buffer);
    for (loop::Phase& p : k->phases)
      for (loop::Store& s : p.stores) rename(s.buffer);
    return;
  }
  auto& call = std::get<LibraryCall>(item);
  for (loop::View* v : {&call.a, &call.b, &call.out}) rename(v->buffer);
  for (auto* v : {&call.bias, &call.residual})
    if (*v) rename((*v)->buffer);
}

// Inputs and outputs stay, whether an item touches them or not.
void remove_dead_buffers(Program& program) {
  std::vector<bool> live(program.buffers.size(), false);
  for (std::size_t b = 0; b < live.size(); ++b) live[b] = program.buffers[b].kind != loop::BufferKind::temporary;
  for (const loop::View& v : program.outputs) live[static_cast<std::size_t>(v.buffer)] = true;
  for (const Item& item : program.items)
    for (const auto& side : {loop::buffers_read(item), loop::buffers_written(item)})
      for (BufferId b : side) live[static_cast<std::size_t>(b)] = true;
  std::vector<BufferId> map(live.size(), -1);
  std::vector<loop::Buffer> kept;
  for (std::size_t b = 0; b < live.size(); ++b) {
    if (!live[b]) continue;
    map[b] = static_cast<BufferId>(kept.size());
    kept.push_back(std::move(program.buffers[b]));
  }
  program.buffers = std::move(kept);
  for (Item& item : program.items) rename_buffers(item, map);
  for (loop::View& v : program.outputs) v.buffer = map[static_cast<std::size_t>(v.buffer)];
}

int count_kernels(const Program& p) {
  return static_cast<int>(
      std::count_if(p.items.begin(), p.items.end(), [](const Item& i) { return std::holds_alternative<Kernel>(i); }));
}

std::int64_t count_bytes(const Program& p, const FusionOptions& options) {
  const Sizes sizes(p);
  std::int64_t n = 0;
  for (const Item& item : p.items) n += traffic_of(p, sizes, item, options.cache_bytes).total();
  return n;
}

const std::string& name_of(const Item& item) {
  const auto* k = std::get_if<Kernel>(&item);
  return k ? k->name : std::get<LibraryCall>(item).name;
}

// Pairs that stayed apart: kernels with the reason found, library calls with theirs.
std::vector<Refusal> refusals_of(const ItemGraph& graph, const Joiner& joiner,
                                 const std::map<int, std::string>& names) {
  std::map<std::pair<int, int>, std::string> reasons = joiner.reasons();
  for (int n = 0; n < graph.size(); ++n) {
    if (!graph.alive(n) || graph.kernel(n)) continue;
    for (BufferId b : graph.writes(n))
      for (int r : graph.readers(b))
        if (graph.kernel(r))
          reasons.try_emplace({n, r}, "the first is a library call, which takes only the epilogues it knows");
    for (BufferId b : graph.reads(n))
      for (int w : graph.writers(b))
        if (graph.kernel(w))
          reasons.try_emplace({w, n}, "the second is a library call, which reads its operands from memory");
  }
  std::vector<Refusal> refusals;
  for (const auto& [pair, reason] : reasons) {
    const std::int64_t bytes = joiner.at_stake(pair.first, pair.second);
    // Kernels that only share small inputs are no news.
    const auto& read = graph.reads(pair.second);
    const auto& written = graph.writes(pair.first);
    const bool depends = std::any_of(read.begin(), read.end(), [&](BufferId b) {
      return std::find(written.begin(), written.end(), b) != written.end();
    });
    if (bytes > 0 && (depends || bytes >= joiner.traffic(pair.first, pair.second) / 100))
      refusals.push_back({names.at(pair.first), names.at(pair.second), reason, bytes});
  }
  std::stable_sort(refusals.begin(), refusals.end(),
                   [](const Refusal& a, const Refusal& b) { return a.bytes > b.bytes; });
  return refusals;
}

std::string unique(std::string name, std::map<std::string, int>& used) {
  const int n = ++used[name];
  if (n == 1) return name;
  return unique(name + "_" + std::to_string(n), used);
}

}  // namespace

FusionResult fuse(Program program, const FusionOptions& options) {
  FusionResult result;
  result.kernels_before = count_kernels(program);
  result.bytes_before = count_bytes(program, options);
  if (!options.enabled) {
    result.kernels_after = result.kernels_before;
    result.bytes_after = result.bytes_before;
    result.program = std::move(program);
    return result;
  }
  for (Item& item : program.items)
    if (auto* k = std::get_if<Kernel>(&item)) share_row_axes(*k);
  ItemGraph graph(program);
  const Sizes sizes(program);
  remove_dead_items(graph);
  if (options.calls_store_views) store_through_copies(program, graph);
  inline_producers(program, graph, sizes, options);
  Joiner joiner(program, graph, sizes, options);
  joiner.run();

  const auto is_stored = [&](BufferId b) { return !graph.writers(b).empty(); };
  const std::vector<int> order = graph.order();
  std::map<int, std::string> names;
  std::map<std::string, int> used;
  for (int n : order) {
    names[n] = name_of(graph.item(n));
    if (Kernel* k = graph.kernel(n)) {
      drop_needless_rounding(*k, is_stored);
      k->name = names[n] = unique(kernel_name(program, *k), used);
    }
  }
  result.refusals = refusals_of(graph, joiner, names);
  for (int n : order) {
    if (Kernel* k = graph.kernel(n)) {
      hoist_unit_values(program, *k);
      separate_row_axes(program, *k);
    }
    program.items.push_back(graph.item(n));
  }
  remove_dead_buffers(program);
  result.kernels_after = count_kernels(program);
  result.bytes_after = count_bytes(program, options);
  result.program = std::move(program);
  return result;
}

}  // namespace stax::fusion
