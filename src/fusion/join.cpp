#include "fusion/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fusion/align.h"
#include "fusion/assemble.h"

namespace stax::fusion {

using loop::BufferId;

namespace {

constexpr std::int64_t kWorthRows = 64;  // least share of the traffic, as a divisor, that binding to rows must save
constexpr std::size_t kSiblings = 8;     // readers of one buffer that are tried with each other, by distance

bool contains(const std::vector<int>& v, int n) { return std::binary_search(v.begin(), v.end(), n); }

// Where large accesses are contiguous: along the inner axes of their phase, along the outer ones, or both.
struct Directions {
  bool inner = false, outer = false;
};

Directions directions_of(const Program& program, const Sizes& sizes, const Kernel& k) {
  Directions d;
  auto accesses = loop::reads_of(k);
  for (const loop::Access& w : loop::writes_of(k)) accesses.push_back(w);
  std::int64_t most = 0;
  for (const loop::Access& a : accesses)
    most = std::max(most, times(footprint(sizes, k, a.phase, a.index), element_bytes(program, a.buffer)));
  for (const loop::Access& a : accesses) {
    const auto& inner = k.phases[static_cast<std::size_t>(a.phase)].inner;
    if (inner.empty() || !mentions(a.index, inner)) continue;
    if (times(footprint(sizes, k, a.phase, a.index), element_bytes(program, a.buffer)) < most / 2) continue;
    if (contiguous_axis(inner, a.index))
      d.inner = true;
    else if (contiguous_axis(k.outer, a.index))
      d.outer = true;
  }
  return d;
}

// Axes along which the large stores of a pointwise kernel are contiguous.
std::set<const symbolic::Node*> store_axes(const Program& program, const Sizes& sizes, const Kernel& k) {
  std::set<const symbolic::Node*> axes;
  std::int64_t most = 0;
  const auto bytes = [&](const loop::Access& w) {
    return times(footprint(sizes, k, w.phase, w.index), element_bytes(program, w.buffer));
  };
  for (const loop::Access& w : loop::writes_of(k)) most = std::max(most, bytes(w));
  for (const loop::Access& w : loop::writes_of(k))
    if (bytes(w) >= most / 2)
      if (const loop::Axis* a = contiguous_axis(k.outer, w.index)) axes.insert(a->var.node());
  return axes;
}

// Never more than so many elements, whatever the sizes.
bool is_small(const Sizes& sizes, const Kernel& k, std::int64_t limit) {
  std::int64_t inner = 1;
  for (const loop::Phase& p : k.phases) inner = std::max(inner, sizes.at_most(p.inner));
  return times(sizes.at_most(k.outer), inner) <= limit;
}

}  // namespace

bool Joiner::needed_elsewhere(BufferId buffer, int a, int b) const {
  if (graph_.is_kept(buffer)) return true;
  const auto& readers = graph_.readers(buffer);
  return std::any_of(readers.begin(), readers.end(), [&](int r) { return r != a && r != b; });
}

std::int64_t Joiner::traffic(int a, int b) const {
  return traffic_of(program_, sizes_, graph_.item(a)).total() + traffic_of(program_, sizes_, graph_.item(b)).total();
}

std::int64_t Joiner::at_stake(int a, int b) const {
  const Traffic ta = traffic_of(program_, sizes_, graph_.item(a)), tb = traffic_of(program_, sizes_, graph_.item(b));
  std::int64_t bytes = 0;
  for (const auto& [buffer, read] : tb.read) {
    if (const auto stored = ta.written.find(buffer); stored != ta.written.end())
      bytes += std::min(read, stored->second) + (needed_elsewhere(buffer, a, b) ? 0 : stored->second);
    else if (const auto shared = ta.read.find(buffer); shared != ta.read.end())
      bytes += std::min(read, shared->second);
  }
  return bytes;
}

std::vector<Joiner::Pair> Joiner::candidates() const {
  std::map<std::pair<int, int>, std::int64_t> shared;
  const auto note = [&](int a, int b, std::int64_t bytes) {
    if (a == b || !graph_.kernel(a) || !graph_.kernel(b)) return;
    if (graph_.before(b, a) || (!graph_.before(a, b) && b < a)) std::swap(a, b);
    const auto tried = tried_.find({a, b});
    if (tried != tried_.end() && tried->second == std::pair(graph_.version(a), graph_.version(b))) return;
    shared[{a, b}] += bytes;
  };
  for (BufferId buffer = 0; buffer < static_cast<int>(program_.buffers.size()); ++buffer) {
    const std::int64_t bytes = sizes_.bytes(buffer);
    const auto& readers = graph_.readers(buffer);
    for (int w : graph_.writers(buffer))
      for (int r : readers) note(w, r, 2 * std::min(bytes, INT64_MAX / 4));
    for (std::size_t i = 0; i < readers.size(); ++i)
      for (std::size_t j = i + 1; j < std::min(readers.size(), i + kSiblings); ++j) note(readers[i], readers[j], bytes);
  }
  std::vector<Pair> pairs;
  for (const auto& [key, bytes] : shared) pairs.push_back({key.first, key.second, bytes});
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) { return x.bytes > y.bytes; });
  return pairs;
}

void Joiner::run() {
  for (bool progress = true; progress;) {
    progress = false;
    for (const Pair& p : candidates()) {
      if (!graph_.alive(p.a) || !graph_.alive(p.b) || graph_.before(p.b, p.a)) continue;
      const std::pair versions(graph_.version(p.a), graph_.version(p.b));
      auto& tried = tried_.try_emplace({p.a, p.b}, -1, -1).first->second;
      if (tried == versions) continue;
      tried = versions;
      const Decision d = join(p.a, p.b);
      if (d) {
        progress = true;
        reasons_.erase({p.a, p.b});
      } else {
        reasons_[{p.a, p.b}] = d.reason();
      }
    }
  }
  std::erase_if(reasons_, [&](const auto& r) { return !graph_.alive(r.first.first) || !graph_.alive(r.first.second); });
}

Decision Joiner::join(int a, int b) {
  if (graph_.path_around(a, b)) return Decision::no("another item has to run between them");
  const Kernel &ka = *graph_.kernel(a), &kb = *graph_.kernel(b);
  for (BufferId buffer : graph_.writes(a)) {
    if (contains(graph_.writers(buffer), b)) return Decision::no("both write the same buffer");
    if (contains(graph_.readers(buffer), b) && graph_.writers(buffer).size() > 1)
      return Decision::no("several kernels write the buffer between them");
  }
  std::string reason;
  const auto aligned = align(program_, sizes_, ka, kb, reason);
  if (!aligned) return Decision::no(reason);
  const AssembleOptions how{[&](BufferId buffer) { return needed_elsewhere(buffer, a, b); }, options_.strict};
  auto joined = assemble(program_, *aligned, how, reason);
  if (!joined) return Decision::no(reason);
  const bool gains_rows = (!has_rows(ka) && has_rows(aligned->a)) || (!has_rows(kb) && has_rows(aligned->b));
  if (Decision d = pays(a, b, *joined, gains_rows); !d) return d;
  if (options_.can_emit)
    if (Decision d = options_.can_emit(program_, *joined); !d) return d;
  graph_.join(a, b, std::move(*joined));
  return Decision::yes();
}

Decision Joiner::pays(int a, int b, const Kernel& joined, bool gains_rows) const {
  const Kernel &ka = *graph_.kernel(a), &kb = *graph_.kernel(b);
  if (most_loads_of_a_phase(joined) > options_.max_loads)
    return Decision::no(fmt::format("more than {} loads in one phase", options_.max_loads));
  if (work_of(joined).operations > options_.max_operations)
    return Decision::no(fmt::format("more than {} operations in one kernel", options_.max_operations));
  if (static_cast<int>(loop::writes_of(joined).size()) > options_.max_stores)
    return Decision::no(fmt::format("more than {} stores in one kernel", options_.max_stores));

  const std::int64_t apart = traffic_of(program_, sizes_, ka, options_.cache_bytes).total() +
                             traffic_of(program_, sizes_, kb, options_.cache_bytes).total();
  const std::int64_t saved = apart - traffic_of(program_, sizes_, joined, options_.cache_bytes).total();
  if (is_small(sizes_, ka, options_.small_elements) && is_small(sizes_, kb, options_.small_elements))
    return Decision::yes();
  if (saved <= 0) return Decision::no("no traffic would be saved");

  const std::int64_t units = sizes_.product(joined.outer);
  const bool fewer = units < std::max(sizes_.product(ka.outer), sizes_.product(kb.outer));
  // A row that one unit keeps takes it no longer than a launch.
  if (fewer && units < options_.parallel_units && !options_.shares_rows &&
      unit_bytes(program_, sizes_, joined) > options_.cache_bytes)
    return Decision::no(fmt::format("only {} units for {}", units, options_.parallel_units));

  // A pointwise kernel bound to rows can no longer be tiled freely.
  if (gains_rows && saved < apart / kWorthRows) {
    const std::int64_t kept = unit_bytes(program_, sizes_, joined);
    if (kept > options_.cache_bytes)
      return Decision::no(
          fmt::format("a row of {} bytes does not stay in a cache of {} bytes, so only {} bytes of {} "
                      "would be saved",
                      kept, options_.cache_bytes, saved, apart));
    return Decision::no(fmt::format("only {} bytes of {} would be saved", saved, apart));
  }

  if (!has_rows(joined) && store_axes(program_, sizes_, joined).size() > 1)
    return Decision::no("their stores run along different axes, which tiles in separate kernels serve better");
  if (has_rows(joined)) {
    const Directions d = directions_of(program_, sizes_, joined);
    const Directions da = directions_of(program_, sizes_, ka), db = directions_of(program_, sizes_, kb);
    const bool mixed_before = (da.inner && da.outer) || (db.inner && db.outer);
    if (d.inner && d.outer && !mixed_before)
      return Decision::no("their memory runs along different axes, which tiles in separate kernels serve better");
  }
  return Decision::yes();
}

}  // namespace stax::fusion
