// Temporary directories. Each is locked while its process lives; one without a lock was left by a process that was
// killed, and the next process of the user that makes one of the same prefix removes it.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stax/base/error.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <set>
#include <system_error>

#include "base/file.h"

namespace stax::base {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kRandom = 6;  // letters at the end, of mkdtemp

const char* temporary_root() {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

// PREFIX-PID-XXXXXX
bool is_name_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  if (!name.starts_with('-')) return false;
  name.remove_prefix(1);
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits > 0 && name.size() == digits + 1 + kRandom && name[digits] == '-';
}

// The directory, locked; not valid when somebody else has locked or removed it.
Fd lock(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

bool is_at(const Fd& fd, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(fd.get(), &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

bool is_ours(const Fd& fd) {
  struct stat info {};
  return ::fstat(fd.get(), &info) == 0 && info.st_uid == ::geteuid();
}

void remove_left_over(const std::string& root, std::string_view prefix) {
  DIR* listing = ::opendir(root.c_str());
  if (listing == nullptr) return;
  while (const dirent* entry = ::readdir(listing)) {  // NOLINT(concurrency-mt-unsafe): the listing is our own
    if (!is_name_of(entry->d_name, prefix)) continue;
    const std::string path = root + "/" + entry->d_name;
    const Fd held = lock(path);
    if (!held.valid() || !is_ours(held) || !is_at(held, path)) continue;
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  ::closedir(listing);
}

void remove_left_over_once(const std::string& root, std::string_view prefix) {
  static std::mutex mutex;
  static auto* done = new std::set<std::string>;
  const std::lock_guard guard(mutex);
  if (done->insert(fmt::format("{}/{}", root, prefix)).second) remove_left_over(root, prefix);
}

}  // namespace

TempDir::TempDir(std::string_view prefix) {
  const std::string root = temporary_root();
  remove_left_over_once(root, prefix);
  // Another process may take a new directory for a left one before it is locked.
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string pattern = fmt::format("{}/{}-{}-XXXXXX", root, prefix, ::getpid());
    if (::mkdtemp(pattern.data()) == nullptr)
      throw UserError(fmt::format("cannot make a temporary directory in '{}': {}", root, errno_text(errno)), {},
                      "Name a directory that can be written in TMPDIR");
    lock_ = lock(pattern);
    if (lock_.valid() ? is_at(lock_, pattern) : errno != EWOULDBLOCK && errno != ENOENT) {
      path_ = pattern;
      return;
    }
  }
  throw UserError(fmt::format("cannot lock a temporary directory in '{}'", root), {},
                  "Name another directory in TMPDIR");
}

TempDir::~TempDir() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace stax::base
