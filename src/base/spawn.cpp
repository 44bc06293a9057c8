#include "base/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <stax/base/error.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace stax::base {
namespace {

bool names(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

std::vector<std::string> child_environment(const ProcessOptions& options) {
  std::vector<std::string> result;
  const auto replaced = [&](std::string_view entry) {
    return std::ranges::any_of(options.unset_env, [&](const auto& name) { return names(entry, name); }) ||
           std::ranges::any_of(options.set_env, [&](const auto& item) { return names(entry, item.first); });
  };
  if (!options.clear_env) {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      if (!replaced(*entry)) result.emplace_back(*entry);
    }
  }
  for (const auto& [name, value] : options.set_env) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

struct FileActions {
  posix_spawn_file_actions_t value{};
  FileActions() { posix_spawn_file_actions_init(&value); }
  ~FileActions() { posix_spawn_file_actions_destroy(&value); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
};

struct Attributes {
  posix_spawnattr_t value{};
  Attributes() {
    posix_spawnattr_init(&value);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setflags(&value, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&value, 0);
    posix_spawnattr_setsigmask(&value, &none);
    posix_spawnattr_setsigdefault(&value, &all);
  }
  ~Attributes() { posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
};

}  // namespace

Fd memory_file(const char* name) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd.valid()) throw UserError("cannot make a file in memory: " + errno_text(errno));
  return fd;
}

pid_t spawn(const ProcessOptions& options, const std::vector<std::pair<int, int>>& descriptors) {
  STAX_CHECK(!options.argv.empty(), "a process needs a program");
  std::vector<std::string> arguments = options.argv, environment = child_environment(options);
  FileActions actions;
  if (!options.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions.value, options.directory.c_str());
  // Via copies above every target, so that no dup2 overwrites a descriptor that is still to be copied.
  std::vector<Fd> copies;
  for (const auto& [ours, target] : descriptors) {
    copies.emplace_back(::fcntl(ours, F_DUPFD_CLOEXEC, 64));
    if (!copies.back().valid()) throw UserError("cannot copy a file descriptor: " + errno_text(errno));
    posix_spawn_file_actions_adddup2(&actions.value, copies.back().get(), target);
  }
  const Attributes attributes;
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0].c_str(), &actions.value, &attributes.value,
                                   pointers(arguments).data(), pointers(environment).data());
  if (error != 0) throw UserError(fmt::format("cannot start '{}': {}", options.argv[0], errno_text(error)));
  return pid;
}

}  // namespace stax::base
