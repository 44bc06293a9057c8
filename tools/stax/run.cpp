#include <cstdio>

#include "commands.h"
#include "common/cli.h"
#include "common/execute.h"
#include "compile_text.h"

namespace stax::tools {

Command add_run(CLI::App& app) {
  struct Options {
    std::string path, output;
    InputOptions inputs;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("run", "compile and run a graph text");
  sub->add_option("GRAPH", options->path, "graph text");
  add_input_options(*sub, options->inputs);
  add_output_option(*sub, options->output);
  return [options] {
    const graph::Graph g = read_graph("run", options->path);
    const Inputs inputs = gather_inputs(g, options->inputs);
    const auto artifact = compile_text(g);
    const std::vector<Result> results = run_compiled(artifact->executable, inputs);
    std::fputs(describe(inputs).c_str(), stdout);
    for (const Result& r : results) std::printf("%s\n", summary(r).c_str());
    if (!options->output.empty()) save(results, options->output);
    return 0;
  };
}

}  // namespace stax::tools
