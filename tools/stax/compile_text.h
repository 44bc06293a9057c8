// A graph file as an artifact.
#pragma once
#include <memory>
#include <string>

#include "compile/artifact.h"
#include "graph/graph.h"

namespace stax::tools {

// UserError when the file is no graph.
graph::Graph read_graph(const std::string& command, const std::string& path);
// With the settings that the environment gives to compile().
std::shared_ptr<const compiler::Artifact> compile_text(const graph::Graph& g);

}  // namespace stax::tools
