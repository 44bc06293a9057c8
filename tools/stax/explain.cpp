#include <cstdio>

#include "commands.h"
#include "compile/explain.h"
#include "compile_text.h"

namespace stax::tools {

Command add_explain(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("explain", "guards, kernels, refused fusions, times and plan of a graph text");
  sub->add_option("GRAPH", *path, "graph text");
  return [path] {
    std::fputs(compiler::explain(*compile_text(read_graph("explain", *path))).c_str(), stdout);
    return 0;
  };
}

}  // namespace stax::tools
