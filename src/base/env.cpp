#include "base/env.h"

#include <fmt/format.h>
#include <stax/base/error.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>

#include "base/log.h"
#include "base/text.h"

namespace stax::base {
namespace {

constexpr std::string_view kTrue[] = {"1", "true", "on", "yes"};
constexpr std::string_view kFalse[] = {"0", "false", "off", "no"};

const EnvVariable* find(std::string_view name) {
  const auto found = std::ranges::find(env_variables(), name, &EnvVariable::name);
  return found == env_variables().end() ? nullptr : &*found;
}

const EnvVariable& variable(std::string_view name, EnvKind kind) {
  const EnvVariable* entry = find(name);
  STAX_CHECK(entry != nullptr && entry->kind == kind, fmt::format("{} is not in the table with this kind", name));
  return *entry;
}

std::optional<std::string> value_of(const EnvVariable& entry) {
  const char* value = std::getenv(std::string(entry.name).c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// "cuda:N" matches "cuda:0", "cuda:12".
bool matches(std::string_view pattern, std::string_view value) {
  if (!pattern.ends_with(":N")) return pattern == value;
  pattern.remove_suffix(1);
  const std::string_view number = value.substr(std::min(pattern.size(), value.size()));
  return value.starts_with(pattern) && !number.empty() &&
         number.find_first_not_of("0123456789") == std::string_view::npos;
}

[[noreturn]] void reject(const EnvVariable& entry, std::string_view value, std::string_view valid) {
  throw UserError(fmt::format("environment variable {}: '{}' is not valid", entry.name, value), {},
                  fmt::format("Valid values: {}", valid));
}

std::optional<bool> flag(const EnvVariable& entry) {
  const auto value = value_of(entry);
  if (!value) return std::nullopt;
  if (std::ranges::find(kTrue, *value) != std::end(kTrue)) return true;
  if (std::ranges::find(kFalse, *value) != std::end(kFalse)) return false;
  reject(entry, *value, "1, true, on, yes, 0, false, off, no");
}

std::optional<std::int64_t> bounded(const EnvVariable& entry) {
  const auto text = value_of(entry);
  if (!text) return std::nullopt;
  const auto bounds = split(entry.values, "..");
  const auto low = integer(bounds.at(0)), high = integer(bounds.at(1)), value = integer(*text);
  if (!value || *value < *low || *value > *high)
    reject(entry, *text, fmt::format("an integer from {} to {}", *low, *high));
  return value;
}

std::optional<std::string> choice(const EnvVariable& entry) {
  auto value = value_of(entry);
  if (!value) return std::nullopt;
  const auto valid = split(entry.values, "|");
  if (std::ranges::none_of(valid, [&](auto pattern) { return matches(pattern, *value); }))
    reject(entry, *value, joined(valid));
  return value;
}

void validate(const EnvVariable& entry) {
  switch (entry.kind) {
    case EnvKind::text:
      break;
    case EnvKind::flag:
      flag(entry);
      break;
    case EnvKind::integer:
      bounded(entry);
      break;
    case EnvKind::choice:
      choice(entry);
      break;
  }
}

}  // namespace

std::optional<std::string> env_text(std::string_view name) { return value_of(variable(name, EnvKind::text)); }
std::optional<bool> env_flag(std::string_view name) { return flag(variable(name, EnvKind::flag)); }
std::optional<std::int64_t> env_integer(std::string_view name) { return bounded(variable(name, EnvKind::integer)); }
std::optional<std::string> env_choice(std::string_view name) { return choice(variable(name, EnvKind::choice)); }

std::vector<std::string> check_environment() {
  for (const EnvVariable& entry : env_variables()) validate(entry);
  std::vector<std::string> unknown;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view name = split(*entry, "=").front();
    if (name.starts_with("STAX_") && find(name) == nullptr) unknown.emplace_back(name);
  }
  std::ranges::sort(unknown);
  static std::atomic<bool> reported = false;
  if (!unknown.empty() && !reported.exchange(true)) {
    log(LogLevel::warn, fmt::format("unknown environment variable{} {}; `stax doctor` lists the known ones",
                                    unknown.size() == 1 ? "" : "s", joined(unknown)));
  }
  return unknown;
}

}  // namespace stax::base
