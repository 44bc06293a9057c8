// stax: run and explain graphs, look after the cache, check the machine, list the operators.
#include "commands.h"
#include "common/cli.h"

int main(int argc, char** argv) {
  using namespace stax::tools;
  CLI::App app("Stax, a tensor compiler", "stax");
  const std::pair<const char*, Command (*)(CLI::App&)> commands[] = {
      {"run", add_run}, {"explain", add_explain}, {"cache", add_cache}, {"doctor", add_doctor}, {"ops", add_ops}};
  std::map<std::string, Command> by_name;
  for (const auto& [name, add] : commands) by_name[name] = add(app);
  return run_main(app, argc, argv, [&] { return by_name.at(app.get_subcommands().front()->get_name())(); });
}
