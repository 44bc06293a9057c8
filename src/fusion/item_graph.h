// The items of a program with their dependencies, while kernels are absorbed and joined.
#pragma once
#include <cstdint>
#include <vector>

#include "loop/ir.h"

namespace stax::fusion {

// A set of small numbers.
class NodeSet {
 public:
  explicit NodeSet(std::size_t n = 0) : words_((n + 63) / 64) {}
  void add(int i) { words_[word(i)] |= bit(i); }
  void remove(int i) { words_[word(i)] &= ~bit(i); }
  bool has(int i) const { return words_[word(i)] & bit(i); }
  void add_all(const NodeSet& o) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= o.words_[w];
  }
  bool intersects(const NodeSet& o) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if (words_[w] & o.words_[w]) return true;
    return false;
  }

 private:
  static std::size_t word(int i) { return static_cast<std::size_t>(i) / 64; }
  static std::uint64_t bit(int i) { return std::uint64_t{1} << (static_cast<unsigned>(i) % 64); }
  std::vector<std::uint64_t> words_;
};

// Node n is the n-th item of the program until it is absorbed by another. Dependencies: a read after a write, a write
// after a read, a write after a write, of a buffer, in program order.
class ItemGraph {
 public:
  explicit ItemGraph(loop::Program& program);

  int size() const { return static_cast<int>(nodes_.size()); }
  bool alive(int n) const { return at(n).alive; }
  const loop::Item& item(int n) const { return at(n).item; }
  loop::Kernel* kernel(int n) { return std::get_if<loop::Kernel>(&at(n).item); }
  const loop::Kernel* kernel(int n) const { return std::get_if<loop::Kernel>(&at(n).item); }
  int version(int n) const { return at(n).version; }  // changes with the item
  const std::vector<loop::BufferId>& reads(int n) const { return at(n).reads; }
  const std::vector<loop::BufferId>& writes(int n) const { return at(n).writes; }
  const std::vector<int>& readers(loop::BufferId b) const { return readers_[static_cast<std::size_t>(b)]; }  // sorted
  const std::vector<int>& writers(loop::BufferId b) const { return writers_[static_cast<std::size_t>(b)]; }
  // Outputs, inputs and whatever an output views: stored even when no item reads it.
  bool is_kept(loop::BufferId b) const { return kept_[static_cast<std::size_t>(b)]; }

  bool before(int a, int b) const { return after_[static_cast<std::size_t>(a)].has(b); }  // b depends on a
  bool path_around(int a, int b) const;  // from a to b through a third item

  // Whether the computation of `producer` may move into all of `consumers`, which read its result.
  bool may_absorb(int producer, const std::vector<int>& consumers) const;
  // Replaces the kernels of the consumers, which no longer need the producer; the producer goes.
  void absorb(int producer, const std::vector<int>& consumers, std::vector<loop::Kernel> replaced);
  // One item in the place of two; `a` stays. There must be no path around.
  void join(int a, int b, loop::Item joined);
  void remove(int n);  // an item that nothing needs

  // Living nodes in an order that respects the dependencies, nearest to the original one.
  std::vector<int> order() const;

 private:
  struct Node {
    loop::Item item;
    bool alive = true;
    int version = 0;
    std::vector<loop::BufferId> reads, writes;
  };
  Node& at(int n) { return nodes_[static_cast<std::size_t>(n)]; }
  const Node& at(int n) const { return nodes_[static_cast<std::size_t>(n)]; }
  void index(int n);
  void unindex(int n);
  void add_edge(int a, int b);
  void close(int n, const NodeSet& added);  // everything that reaches n reaches `added`

  std::vector<Node> nodes_;
  std::vector<NodeSet> next_, previous_, after_;  // direct successors, direct predecessors, all later ones
  std::vector<std::vector<int>> readers_, writers_;
  std::vector<bool> kept_;
};

}  // namespace stax::fusion
