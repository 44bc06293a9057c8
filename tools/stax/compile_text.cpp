#include "compile_text.h"

#include <fmt/format.h>
#include <stax/frontend/options.h>

#include "base/env.h"
#include "common/texts.h"
#include "compile/pipeline.h"
#include "graph/interpret.h"

namespace stax::tools {

graph::Graph read_graph(const std::string& command, const std::string& path) {
  if (path.empty())
    throw UserError(fmt::format("{}: no file", command), {}, fmt::format("Use: stax {} GRAPH.stax", command));
  const TextFile file = read_text(path);
  if (file.kind != TextKind::graph)
    throw UserError(fmt::format("{}: {} is no graph", command, path), {}, "stax-opt takes loop programs and plans");
  return graph::parse_graph(file.text, path);
}

std::shared_ptr<const compiler::Artifact> compile_text(const graph::Graph& g) {
  const CompileOptions options = with_environment({});
  compiler::Settings settings;
  settings.strict_numerics = options.numerics == Numerics::strict;
  settings.index_checks = options.checks;
  return compiler::compile_graph(g, settings, compiler::Session::of({}));
}

}  // namespace stax::tools
