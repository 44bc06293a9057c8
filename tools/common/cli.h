// What the programs' command lines have in common.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

#include "common/inputs.h"

namespace stax::tools {

void add_input_options(CLI::App& app, InputOptions& options);
void add_output_option(CLI::App& app, std::string& directory);

// Parses, registers the operators, runs `body`. Exit status 0, or 1 with one message on standard error; an unknown
// option or command is answered by the valid ones.
int run_main(CLI::App& app, int argc, char** argv, const std::function<int()>& body);

}  // namespace stax::tools
