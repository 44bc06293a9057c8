// The content-addressed store on disk. It knows keys and bytes, not what they mean.
#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "cache/entry.h"

namespace stax::cache {

struct EntryInfo {
  base::Digest key;
  std::uint64_t bytes = 0;
  std::int64_t last_used = 0;  // seconds since 1970
};

struct StoreStats {
  std::uint64_t entries = 0, bytes = 0, limit_bytes = 0;                    // on disk now
  std::uint64_t hits = 0, misses = 0, corrupt = 0, stored = 0, pruned = 0;  // of this object
};

// One directory, shared by threads and processes. Nothing that goes wrong with the directory is an error for the
// caller: a store that cannot read or write behaves as an empty one and warns once a process.
//   DIR/v1/ab/abcd…   one file an entry, named by its key   DIR/v1/staging/   files being written   DIR/v1/lock
// An entry appears by rename, so an interrupted writer leaves nothing but a staging file, which a later prune removes.
// Entries are not synced: after a power cut the digest tells.
class Store {
 public:
  // An empty directory gives a store that keeps nothing.
  Store(std::filesystem::path directory, std::uint64_t limit_bytes);

  // The verified entry, marked as used now. A corrupt one is removed, reported by one log line, and a miss.
  std::optional<Entry> get(const base::Digest& key);
  // Installs or replaces the entry; false when it was not stored. Prunes when the limit is passed.
  bool put(const base::Digest& key, std::span<const Blob> blobs);

  StoreStats stats() const;
  // All entries, the least recently used first. Not verified.
  std::vector<EntryInfo> list() const;
  // Removes every entry; gives their number.
  std::uint64_t clear();
  // Removes the least recently used entries until at most `target_bytes` remain, and stale staging files.
  std::uint64_t prune(std::uint64_t target_bytes);

  bool usable() const { return usable_; }
  const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path entry_path(const base::Digest& key) const;
  void make_directories() const;
  void discard(const std::filesystem::path& path, const std::string& problem);
  void install(const std::filesystem::path& path, const std::string& content);
  void account(std::uint64_t added);

  std::filesystem::path directory_, root_;
  std::uint64_t limit_bytes_;
  bool usable_ = false;

  mutable std::mutex mutex_;
  StoreStats counters_;
  std::uint64_t estimated_bytes_ = 0;  // on disk, as far as this object knows
  int puts_until_scan_ = 0;
};

// $STAX_CACHE_DIR, else $XDG_CACHE_HOME/stax, else ~/.cache/stax; empty when STAX_CACHE=0 or there is no home.
std::filesystem::path default_directory();
// STAX_CACHE_LIMIT_MB, else 2 GiB.
std::uint64_t default_limit_bytes();

}  // namespace stax::cache
