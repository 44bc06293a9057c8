#include "fusion/inline.h"

#include <algorithm>
#include <set>

#include "loop/transform.h"

namespace stax::fusion {

using loop::BufferId;
using loop::Kernel;

namespace {

// How often a consumer evaluates a producer, in units of the producer's own domain.
struct Use {
  int copies = 0;        // distinct addresses that are read
  bool expands = false;  // evaluated for more indices than the producer has
};

Use use_of(const Sizes& sizes, const Kernel& consumer, const Kernel& producer, BufferId buffer) {
  Use use;
  std::set<const symbolic::Node*> seen;
  for (const loop::Access& r : loop::reads_of(consumer)) {
    if (r.buffer != buffer) continue;
    if (seen.insert(r.index.node()).second) ++use.copies;
    const std::int64_t domain =
        times(sizes.product(consumer.outer), sizes.product(consumer.phases[static_cast<std::size_t>(r.phase)].inner));
    use.expands |= domain > sizes.product(producer.outer);
  }
  return use;
}

// Whether computing again, at the place of every read, costs less than a buffer.
bool pays(const Program& program, const ItemGraph& graph, const Sizes& sizes, const FusionOptions& options, int n,
          BufferId buffer) {
  const Kernel& producer = *graph.kernel(n);
  const Work work = work_of(producer);
  std::int64_t copies = 0;
  bool expands = false;
  for (int c : graph.readers(buffer)) {
    const Use use = use_of(sizes, *graph.kernel(c), producer, buffer);
    copies += use.copies;
    expands |= use.expands;
  }
  const bool cheap = work.expensive == 0 && work.operations <= options.cheap_operations;
  if (copies == 1 && !expands) return true;
  if (cheap && work.loads == 0) return true;
  if (!cheap || work.loads > 2) return false;
  if (expands) return true;
  // Several copies read the inputs several times; a buffer would be read instead, and consumers that join the
  // producer's kernel would not even read that.
  std::int64_t in = 0;
  for (const auto& [b, bytes] : traffic_of(program, sizes, producer).read) in += bytes;
  const std::int64_t out = sizes.bytes(buffer);
  return in <= out + out / 8;
}

void inline_one(Program& program, ItemGraph& graph, const Sizes& sizes, const FusionOptions& options, int n) {
  const Kernel* producer = graph.kernel(n);
  if (!producer || !loop::is_pointwise(*producer) || producer->phases[0].stores.size() != 1) return;
  const loop::Store store = producer->phases[0].stores[0];
  const BufferId buffer = store.buffer;
  if (graph.is_kept(buffer) || graph.writers(buffer).size() != 1) return;
  const std::vector<int> consumers = graph.readers(buffer);
  if (std::find(consumers.begin(), consumers.end(), n) != consumers.end()) return;
  for (int c : consumers)
    if (!graph.kernel(c)) return;
  if (!pays(program, graph, sizes, options, n, buffer) || !graph.may_absorb(n, consumers)) return;
  std::vector<Kernel> replaced;
  for (int c : consumers) {
    replaced.push_back(*graph.kernel(c));
    Kernel& k = replaced.back();
    if (!loop::inline_producer(program, k, *producer, store, options.strict, false)) return;
    if (most_loads_of_a_phase(k) > options.max_loads || work_of(k).operations > options.max_operations) return;
    if (options.can_emit && !options.can_emit(program, k)) return;
  }
  graph.absorb(n, consumers, std::move(replaced));
}

}  // namespace

void inline_producers(Program& program, ItemGraph& graph, const Sizes& sizes, const FusionOptions& options) {
  for (int n = 0; n < graph.size(); ++n)
    if (graph.alive(n)) inline_one(program, graph, sizes, options, n);
}

}  // namespace stax::fusion
