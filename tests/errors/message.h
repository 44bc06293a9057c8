// For tests of error messages: what a call says, and where it stands.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stax/stax.h>

#include <source_location>
#include <string>

#include "base/file.h"
#include "base/log.h"
#include "base/subprocess.h"

namespace stax::test {

// The text of the UserError that `action` throws, or "no error".
template <typename F>
std::string message_of(F&& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

// " at FILE:LINE" of the line of the call, or of a line after it.
inline std::string at(int lines_after = 0, std::source_location here = std::source_location::current()) {
  return fmt::format(" at {}:{}", here.file_name(), static_cast<int>(here.line()) + lines_after);
}

// Runs one of the installed programs: run_tool({"stax", "run", …}).
inline base::ProcessResult run_tool(std::vector<std::string> argv,
                                    std::vector<std::pair<std::string, std::string>> environment = {}) {
  argv[0] = STAX_TOOLS_DIR "/" + argv[0];
  base::ProcessOptions options;
  options.argv = std::move(argv);
  options.set_env = std::move(environment);
  return base::run_process(options);
}

// An environment variable for the life of the object.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~ScopedVariable() { ::unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
};

}  // namespace stax::test
