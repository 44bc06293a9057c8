#include "fusion/item_graph.h"

#include <algorithm>
#include <queue>

namespace stax::fusion {

using loop::BufferId;

namespace {

void insert_sorted(std::vector<int>& v, int n) {
  const auto at = std::lower_bound(v.begin(), v.end(), n);
  if (at == v.end() || *at != n) v.insert(at, n);
}

}  // namespace

ItemGraph::ItemGraph(loop::Program& program)
    : readers_(program.buffers.size()), writers_(program.buffers.size()), kept_(program.buffers.size(), false) {
  const std::size_t n = program.items.size();
  nodes_.resize(n);
  next_.assign(n, NodeSet(n));
  previous_.assign(n, NodeSet(n));
  after_.assign(n, NodeSet(n));
  for (std::size_t b = 0; b < program.buffers.size(); ++b)
    kept_[b] = program.buffers[b].kind != loop::BufferKind::temporary;
  for (const loop::View& v : program.outputs) kept_[static_cast<std::size_t>(v.buffer)] = true;
  for (int i = 0; i < static_cast<int>(n); ++i) {
    at(i).item = std::move(program.items[static_cast<std::size_t>(i)]);
    at(i).reads = loop::buffers_read(at(i).item);
    at(i).writes = loop::buffers_written(at(i).item);
    for (BufferId b : at(i).reads)
      for (int w : writers(b)) add_edge(w, i);
    for (BufferId b : at(i).writes) {
      for (int w : writers(b)) add_edge(w, i);
      for (int r : readers(b)) add_edge(r, i);
    }
    index(i);
  }
  program.items.clear();
  for (int i = static_cast<int>(n) - 1; i >= 0; --i)
    for (int j = i + 1; j < static_cast<int>(n); ++j)
      if (next_[static_cast<std::size_t>(i)].has(j)) {
        after_[static_cast<std::size_t>(i)].add(j);
        after_[static_cast<std::size_t>(i)].add_all(after_[static_cast<std::size_t>(j)]);
      }
}

void ItemGraph::index(int n) {
  for (BufferId b : at(n).reads) insert_sorted(readers_[static_cast<std::size_t>(b)], n);
  for (BufferId b : at(n).writes) insert_sorted(writers_[static_cast<std::size_t>(b)], n);
}

void ItemGraph::unindex(int n) {
  for (BufferId b : at(n).reads) std::erase(readers_[static_cast<std::size_t>(b)], n);
  for (BufferId b : at(n).writes) std::erase(writers_[static_cast<std::size_t>(b)], n);
}

void ItemGraph::add_edge(int a, int b) {
  if (a == b) return;
  next_[static_cast<std::size_t>(a)].add(b);
  previous_[static_cast<std::size_t>(b)].add(a);
}

void ItemGraph::close(int n, const NodeSet& added) {
  after_[static_cast<std::size_t>(n)].add_all(added);
  for (int i = 0; i < size(); ++i)
    if (alive(i) && before(i, n)) after_[static_cast<std::size_t>(i)].add_all(added);
}

bool ItemGraph::path_around(int a, int b) const {
  for (int x = 0; x < size(); ++x)
    if (x != b && alive(x) && next_[static_cast<std::size_t>(a)].has(x) && before(x, b)) return true;
  return false;
}

bool ItemGraph::may_absorb(int producer, const std::vector<int>& consumers) const {
  for (int w = 0; w < size(); ++w) {
    if (!alive(w) || !next_[static_cast<std::size_t>(producer)].has(w)) continue;
    // A later writer of what the producer reads must come after every consumer.
    for (int c : consumers)
      if (w != c && before(w, c)) {
        const auto& r = at(producer).reads;
        const auto& ww = at(w).writes;
        if (std::any_of(r.begin(), r.end(), [&](BufferId b) { return std::find(ww.begin(), ww.end(), b) != ww.end(); }))
          return false;
      }
  }
  return true;
}

void ItemGraph::absorb(int producer, const std::vector<int>& consumers, std::vector<loop::Kernel> replaced) {
  for (std::size_t i = 0; i < consumers.size(); ++i) {
    const int c = consumers[i];
    unindex(c);
    at(c).item = std::move(replaced[i]);
    at(c).reads = loop::buffers_read(at(c).item);
    at(c).writes = loop::buffers_written(at(c).item);
    ++at(c).version;
    index(c);
    NodeSet later(nodes_.size());
    for (int x = 0; x < size(); ++x) {
      if (!alive(x) || x == c) continue;
      if (previous_[static_cast<std::size_t>(producer)].has(x)) add_edge(x, c);
      const auto& written = at(x).writes;
      const bool overwrites = next_[static_cast<std::size_t>(producer)].has(x) &&
                              std::any_of(written.begin(), written.end(), [&](BufferId b) {
                                const auto& r = at(producer).reads;
                                return std::find(r.begin(), r.end(), b) != r.end();
                              });
      if (overwrites) {
        add_edge(c, x);
        later.add(x);
        later.add_all(after_[static_cast<std::size_t>(x)]);
      }
    }
    close(c, later);
  }
  remove(producer);
}

void ItemGraph::join(int a, int b, loop::Item joined) {
  unindex(a);
  unindex(b);
  at(a).item = std::move(joined);
  at(a).reads = loop::buffers_read(at(a).item);
  at(a).writes = loop::buffers_written(at(a).item);
  ++at(a).version;
  at(b).alive = false;
  index(a);
  NodeSet later = after_[static_cast<std::size_t>(a)];
  later.add_all(after_[static_cast<std::size_t>(b)]);
  later.remove(a);
  later.remove(b);
  for (int x = 0; x < size(); ++x) {
    if (!alive(x) || x == a) continue;
    if (next_[static_cast<std::size_t>(b)].has(x)) add_edge(a, x);
    if (previous_[static_cast<std::size_t>(b)].has(x)) add_edge(x, a);
    NodeSet& after = after_[static_cast<std::size_t>(x)];
    if (after.has(a) || after.has(b)) {
      after.add(a);
      after.add_all(later);
    }
    after.remove(b);
    next_[static_cast<std::size_t>(x)].remove(b);
    previous_[static_cast<std::size_t>(x)].remove(b);
  }
  after_[static_cast<std::size_t>(a)] = later;
  next_[static_cast<std::size_t>(a)].remove(b);
  previous_[static_cast<std::size_t>(a)].remove(b);
}

void ItemGraph::remove(int n) {
  unindex(n);
  at(n).alive = false;
  for (int x = 0; x < size(); ++x) {
    next_[static_cast<std::size_t>(x)].remove(n);
    previous_[static_cast<std::size_t>(x)].remove(n);
    after_[static_cast<std::size_t>(x)].remove(n);
  }
}

std::vector<int> ItemGraph::order() const {
  std::vector<int> waiting(nodes_.size(), 0), result;
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < size(); ++i) {
    if (!alive(i)) continue;
    for (int x = 0; x < size(); ++x)
      waiting[static_cast<std::size_t>(i)] += alive(x) && previous_[static_cast<std::size_t>(i)].has(x);
    if (waiting[static_cast<std::size_t>(i)] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const int n = ready.top();
    ready.pop();
    result.push_back(n);
    for (int x = 0; x < size(); ++x)
      if (alive(x) && next_[static_cast<std::size_t>(n)].has(x) && --waiting[static_cast<std::size_t>(x)] == 0)
        ready.push(x);
  }
  std::size_t living = 0;
  for (const Node& n : nodes_) living += n.alive;
  STAX_CHECK(result.size() == living, "fusion made a cycle of items");
  return result;
}

}  // namespace stax::fusion
