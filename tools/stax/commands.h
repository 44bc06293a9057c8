// The commands of `stax`: each adds its subcommand and returns what runs it.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace stax::tools {

using Command = std::function<int()>;  // the exit status

Command add_run(CLI::App& app);
Command add_explain(CLI::App& app);
Command add_cache(CLI::App& app);
Command add_doctor(CLI::App& app);
Command add_ops(CLI::App& app);

}  // namespace stax::tools
