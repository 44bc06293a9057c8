#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "base/env.h"
#include "cache/store.h"

namespace stax::cache {
namespace {

// Only absolute paths count, as the XDG specification asks.
std::filesystem::path absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value == '/' ? value : std::filesystem::path();
}

std::filesystem::path home() {
  auto path = absolute_variable("HOME");
  if (!path.empty()) return path;
  const passwd* user = ::getpwuid(::geteuid());
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : std::filesystem::path();
}

}  // namespace

std::filesystem::path default_directory() {
  if (!base::env_flag("STAX_CACHE").value_or(true)) return {};
  if (const auto directory = base::env_text("STAX_CACHE_DIR")) return *directory;
  if (const auto base = absolute_variable("XDG_CACHE_HOME"); !base.empty()) return base / "stax";
  const auto base = home();
  return base.empty() ? base : base / ".cache" / "stax";
}

std::uint64_t default_limit_bytes() {
  return static_cast<std::uint64_t>(base::env_integer("STAX_CACHE_LIMIT_MB").value_or(2048)) << 20;
}

}  // namespace stax::cache
