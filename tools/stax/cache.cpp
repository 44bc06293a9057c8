#include "cache/store.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <stax/base/error.h>

#include "base/env.h"
#include "commands.h"

namespace stax::tools {

namespace {

struct Options {
  std::string action = "stats", directory;
  std::uint64_t megabytes = 0;
};

double mb(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

int run(const Options& o) {
  (void)base::check_environment();
  const std::filesystem::path directory =
      o.directory.empty() ? cache::default_directory() : std::filesystem::path(o.directory);
  if (directory.empty())
    throw UserError("cache: there is no disk cache", {}, "Unset STAX_CACHE=0, or set STAX_CACHE_DIR");
  cache::Store store(directory, cache::default_limit_bytes());
  if (!store.usable()) throw UserError(fmt::format("cache: the directory '{}' cannot be used", directory.string()));
  if (o.action == "list") {
    for (const cache::EntryInfo& e : store.list())
      fmt::print("{} {:>9} bytes, last used {:%Y-%m-%d %H:%M:%S} UTC\n", e.key.hex(), e.bytes,
                 fmt::gmtime(static_cast<std::time_t>(e.last_used)));
  } else if (o.action == "clear") {
    fmt::print("{} entries removed from {}\n", store.clear(), directory.string());
  } else if (o.action == "prune") {
    const std::uint64_t target = o.megabytes ? o.megabytes << 20 : store.stats().limit_bytes;
    const std::uint64_t removed = store.prune(target);
    fmt::print("{} entries removed, {:.1f} MB remain in {}\n", removed, mb(store.stats().bytes), directory.string());
  } else {
    const cache::StoreStats s = store.stats();
    fmt::print("directory {}\nentries   {}\nsize      {:.1f} MB of {:.0f} MB\n", directory.string(), s.entries,
               mb(s.bytes), mb(s.limit_bytes));
  }
  return 0;
}

}  // namespace

Command add_cache(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("cache", "look after the disk cache");
  sub->add_option("ACTION", options->action, "list, stats (default), clear or prune")
      ->check(CLI::IsMember({"list", "stats", "clear", "prune"}));
  sub->add_option("--dir", options->directory, "directory of the cache instead of the default one");
  sub->add_option("--to", options->megabytes, "prune: MB that may remain instead of the limit");
  return [options] { return run(*options); };
}

}  // namespace stax::tools
