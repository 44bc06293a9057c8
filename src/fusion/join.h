// Joining: kernels over common units become one kernel with more phases.
#pragma once
#include <map>
#include <string>
#include <utility>

#include "fusion/fusion.h"
#include "fusion/item_graph.h"
#include "fusion/sizes.h"

namespace stax::fusion {

class Joiner {
 public:
  Joiner(Program& program, ItemGraph& graph, const Sizes& sizes, const FusionOptions& options)
      : program_(program), graph_(graph), sizes_(sizes), options_(options) {}

  // Joins pairs, those with the most shared bytes first, until no pair joins.
  void run();
  // Why the living pairs that share data stayed apart: (first, second) → reason.
  const std::map<std::pair<int, int>, std::string>& reasons() const { return reasons_; }
  // Bytes of traffic that one kernel for both would save.
  std::int64_t at_stake(int a, int b) const;
  std::int64_t traffic(int a, int b) const;  // of both, apart

 private:
  struct Pair {
    int a, b;
    std::int64_t bytes;
  };
  std::vector<Pair> candidates() const;
  Decision join(int a, int b);
  // `gains_rows`: a pointwise kernel takes axes inside.
  Decision pays(int a, int b, const Kernel& joined, bool gains_rows) const;
  bool needed_elsewhere(loop::BufferId buffer, int a, int b) const;

  Program& program_;
  ItemGraph& graph_;
  const Sizes& sizes_;
  const FusionOptions& options_;
  std::map<std::pair<int, int>, std::pair<int, int>> tried_;  // versions
  std::map<std::pair<int, int>, std::string> reasons_;
};

}  // namespace stax::fusion
