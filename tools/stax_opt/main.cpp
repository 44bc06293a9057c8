// stax-opt: the stages of Stax on a text file, one by one.
#include "common/cli.h"
#include "passes/passes.h"
#include "stages.h"

int main(int argc, char** argv) {
  using namespace stax::tools;
  OptOptions o;
  CLI::App app(
      "Runs stages on a graph, loop program or plan text (told by its first word), in the order\n"
      "pass, lower, split, fuse, normalise, schedule; prints the text that results, or what --emit, --plan or --run "
      "give.",
      "stax-opt");
  std::string passes;
  for (const auto& pass : stax::passes::all_passes()) passes += (passes.empty() ? "" : ", ") + std::string(pass.name);
  app.add_option("FILE", o.path, "text of a graph, loop program or plan");
  app.add_option("--pass", o.passes, "graph passes in the order given, or all: " + passes)
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--print-after", o.print_after, "print the text after these passes and stages, or all")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--verify", o.verify, "verify the text and the result of every stage");
  app.add_flag("--lower", o.lower, "graph to loop program (after --pass all)");
  app.add_option("--split", o.split, "split reductions for a GPU of so many multiprocessors")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--fuse", o.fuse, "join kernels");
  app.add_flag("--normalise", o.normalise, "merge and order the axes of every kernel");
  app.add_flag("--schedule", o.schedule, "choose how every kernel runs");
  app.add_flag("--strict", o.strict, "numerics = strict: half types are rounded at every operator");
  app.add_option("--target", o.target, "cpu or gpu (132 multiprocessors, sm_90); default: the device of the graph")
      ->check(CLI::IsMember({"cpu", "gpu"}));
  app.add_option("--emit", o.emit, "print the kernels' source: cpp or triton")->check(CLI::IsMember({"cpp", "triton"}));
  app.add_flag("--plan", o.plan, "print the plan");
  app.add_option("--run", o.run, "run and show results: reference, loops or cpu")
      ->check(CLI::IsMember({"reference", "loops", "cpu"}));
  add_input_options(app, o.inputs);
  add_output_option(app, o.output);
  return run_main(app, argc, argv, [&] {
    run_stages(o);
    return 0;
  });
}
