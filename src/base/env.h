// Options from the environment. One table (env_table.cpp) lists every STAX_ variable with its kind, values and meaning.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stax::base {

enum class EnvKind { text, flag, integer, choice };

struct EnvVariable {
  std::string_view name;
  EnvKind kind;
  std::string_view
      values;  // choice: "a|b|c" ("cuda:N" stands for any number N); integer: "LOW..HIGH"; text: what it holds
  std::string_view default_text;
  std::string_view doc;
};

// All variables that Stax reads, sorted by name.
std::span<const EnvVariable> env_variables();

// The value, or nothing when the variable is unset or empty. The name must be in the table with the fitting kind
// (InternalError). A value that the table does not allow throws UserError that lists the valid ones.
std::optional<std::string> env_text(std::string_view name);
std::optional<bool> env_flag(std::string_view name);  // 1|true|on|yes, 0|false|off|no
std::optional<std::int64_t> env_integer(std::string_view name);
std::optional<std::string> env_choice(std::string_view name);

// Validates every STAX_ variable that is set: UserError for a value that is not valid. Variables that are not in the
// table are reported by one warning a process. Returns the unknown names.
std::vector<std::string> check_environment();

}  // namespace stax::base
