// What the store does to all its entries: list, measure, prune, clear.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <tuple>

#include "base/file.h"
#include "cache/store.h"

namespace stax::cache {
namespace fs = std::filesystem;

namespace {

constexpr std::time_t kStaleSeconds = 3600;

// Held by the one process that removes entries. Readers need no lock: an open file stays whole.
class Lock {
 public:
  Lock(const fs::path& root, bool wait)
      : fd_(::open((root / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    held_ = fd_.valid() && ::flock(fd_.get(), wait ? LOCK_EX : LOCK_EX | LOCK_NB) == 0;
  }
  bool held() const { return held_; }

 private:
  base::Fd fd_;
  bool held_ = false;
};

void remove_stale_staging(const fs::path& root, std::time_t age) {
  std::error_code error;
  for (fs::directory_iterator at(root / "staging", error), end; !error && at != end; at.increment(error)) {
    struct stat info {};
    if (::lstat(at->path().c_str(), &info) == 0 && info.st_mtime + age <= std::time(nullptr)) {
      std::error_code ignored;
      fs::remove(at->path(), ignored);
    }
  }
}

}  // namespace

std::vector<EntryInfo> Store::list() const {
  struct Timed {
    EntryInfo info;
    long nanoseconds;
  };
  std::vector<Timed> found;
  std::error_code error;
  fs::recursive_directory_iterator at(root_, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; usable_ && !error && at != end; at.increment(error)) {
    const auto key = base::Digest::from_hex(at->path().filename().string());
    struct stat info {};
    if (!key || ::lstat(at->path().c_str(), &info) != 0) continue;
    found.push_back({{*key, static_cast<std::uint64_t>(info.st_size), info.st_mtim.tv_sec}, info.st_mtim.tv_nsec});
  }
  std::ranges::sort(found, {}, [](const Timed& t) { return std::tuple(t.info.last_used, t.nanoseconds, t.info.key); });
  std::vector<EntryInfo> result;
  for (const Timed& timed : found) result.push_back(timed.info);
  return result;
}

StoreStats Store::stats() const {
  const auto entries = list();
  const std::lock_guard lock(mutex_);
  StoreStats result = counters_;
  result.entries = entries.size();
  for (const EntryInfo& entry : entries) result.bytes += entry.bytes;
  return result;
}

std::uint64_t Store::prune(std::uint64_t target_bytes) {
  if (!usable_) return 0;
  const Lock lock(root_, false);
  if (!lock.held()) return 0;
  remove_stale_staging(root_, kStaleSeconds);
  const auto entries = list();
  std::uint64_t bytes = 0, removed = 0;
  for (const EntryInfo& entry : entries) bytes += entry.bytes;
  for (const EntryInfo& entry : entries) {
    if (bytes <= target_bytes) break;
    std::error_code error;
    if (fs::remove(entry_path(entry.key), error)) ++removed;
    bytes -= entry.bytes;
  }
  const std::lock_guard guard(mutex_);
  counters_.pruned += removed;
  return removed;
}

std::uint64_t Store::clear() {
  if (!usable_) return 0;
  const Lock lock(root_, true);
  std::uint64_t removed = 0;
  for (const EntryInfo& entry : list()) {
    std::error_code error;
    if (fs::remove(entry_path(entry.key), error)) ++removed;
  }
  remove_stale_staging(root_, kStaleSeconds);
  const std::lock_guard guard(mutex_);
  estimated_bytes_ = 0;
  return removed;
}

}  // namespace stax::cache
