// An example's text at every stage, for one fixed machine: 64-byte vectors, 2 threads.
#pragma once
#include <map>
#include <string>

#include "examples.h"
#include "graph/graph.h"
#include "loop/ir.h"

namespace stax::golden {

struct Stages {
  graph::Graph graph;
  loop::Program lowered, fused, split;       // split: for a GPU of 132 multiprocessors, fused
  std::map<std::string, std::string> texts;  // by stage
};
Stages stages_of(const Example& example);

}  // namespace stax::golden
