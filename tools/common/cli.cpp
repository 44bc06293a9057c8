#include "common/cli.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/text.h"
#include "ops/ops.h"

namespace stax::tools {

void add_input_options(CLI::App& app, InputOptions& options) {
  app.add_option("--input", options.files, "FILE.npy of the next tensor input, or NAME=FILE.npy; missing ones are made")
      ->allow_extra_args(false);
  app.add_option("--dim", options.dims, "value of a size, as s0=17")->allow_extra_args(false);
  app.add_option("--scalar", options.scalars, "value of a scalar input, as c0=2.5")->allow_extra_args(false);
}

void add_output_option(CLI::App& app, std::string& directory) {
  app.add_option("--output", directory, "directory for the results, one npy file each");
}

namespace {

std::string option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options()) names.push_back(o->get_name());
  return base::joined(names);
}

std::string command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return base::joined(names);
}

// What to say about arguments that nothing takes.
std::string unknown(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  if (!parsed.empty() && parsed.front()->remaining_size() > 0) return unknown(*parsed.front());
  const std::vector<std::string> rest = app.remaining();
  const std::string first = rest.empty() ? "" : rest.front();
  const std::string name = app.get_parent() ? app.get_parent()->get_name() + " " + app.get_name() : app.get_name();
  if (first.starts_with("-"))
    return fmt::format("{}: unknown option '{}'. Valid options: {}", name, first, option_names(app));
  if (!app.get_subcommands({}).empty() && parsed.empty())
    return fmt::format("{}: unknown command '{}'. Valid commands: {}", name, first, command_names(app));
  return fmt::format("{}: unexpected argument '{}'. Valid options: {}", name, first, option_names(app));
}

}  // namespace

int run_main(CLI::App& app, int argc, char** argv, const std::function<int()>& body) {
  const auto fail = [&](const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    return 1;
  };
  try {
    app.parse(argc, argv);
    if (!app.get_subcommands({}).empty() && app.get_subcommands().empty())
      return fail(fmt::format("{}: give a command: {}", app.get_name(), command_names(app)));
    ops::register_all();
    return body();
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::ExtrasError&) {
    return fail(unknown(app));
  } catch (const CLI::ParseError& e) {
    return fail(app.get_name() + ": " + e.what());
  } catch (const std::exception& e) {
    return fail(app.get_name() + ": " + e.what());
  }
}

}  // namespace stax::tools
