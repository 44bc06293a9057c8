#include "cache/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stax/base/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/log.h"
#include "cache/warnings.h"

namespace stax::cache {
namespace fs = std::filesystem;

namespace {

// Other processes fill the same directory: its size is measured again after so many puts.
constexpr int kPutsBetweenScans = 64;

// A whole file of the user's own. Empty when there is none; `problem` when it must not be used.
std::optional<std::vector<char>> read_own_file(const base::Fd& fd, std::string& problem) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    problem = "it is not a regular file";
    return std::nullopt;
  }
  if (info.st_uid != ::geteuid()) {
    problem = fmt::format("it belongs to user {}", info.st_uid);
    return std::nullopt;
  }
  std::vector<char> content(static_cast<std::size_t>(info.st_size));
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t count = ::read(fd.get(), content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  content.resize(done);
  return content;
}

}  // namespace

Store::Store(fs::path directory, std::uint64_t limit_bytes)
    : directory_(std::move(directory)), limit_bytes_(limit_bytes) {
  counters_.limit_bytes = limit_bytes;
  if (directory_.empty()) return;
  root_ = directory_ / "v1";
  try {
    make_directories();
    usable_ = true;
  } catch (const UserError& error) {
    warn_once(Warning::unusable, fmt::format("the disk cache is not used: {}", error.what()));
  }
}

void Store::make_directories() const {
  base::make_private_directory(directory_);
  base::make_private_directory(root_);
  base::make_private_directory(root_ / "staging");
}

fs::path Store::entry_path(const base::Digest& key) const {
  const std::string name = key.hex();
  return root_ / name.substr(0, 2) / name;
}

std::optional<Entry> Store::get(const base::Digest& key) {
  std::optional<Entry> entry;
  if (usable_) {
    const fs::path path = entry_path(key);
    const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (fd.valid()) {
      std::string problem;
      if (auto content = read_own_file(fd, problem)) entry = decode_entry(key, *std::move(content), problem);
      if (entry) {
        ::futimens(fd.get(), nullptr);
      } else {
        discard(path, problem);
      }
    } else if (errno == ELOOP) {
      discard(path, "it is a symbolic link");
    }
  }
  const std::lock_guard lock(mutex_);
  ++(entry ? counters_.hits : counters_.misses);
  return entry;
}

void Store::discard(const fs::path& path, const std::string& problem) {
  std::error_code ignored;
  fs::remove(path, ignored);
  base::log(base::LogLevel::warn,
            fmt::format("a corrupt cache entry was removed and is built again: '{}': {}", path.string(), problem));
  const std::lock_guard lock(mutex_);
  ++counters_.corrupt;
}

bool Store::put(const base::Digest& key, std::span<const Blob> blobs) {
  if (!usable_) return false;
  const std::string content = encode_entry(key, blobs);
  if (content.size() > limit_bytes_) {
    base::log(base::LogLevel::info,
              fmt::format("an entry of {} bytes is not cached: the limit is {} bytes", content.size(), limit_bytes_));
    return false;
  }
  const fs::path path = entry_path(key);
  try {
    if (!fs::exists(root_ / "staging")) make_directories();  // somebody removed the directory meanwhile
    install(path, content);
  } catch (const std::exception& error) {
    warn_once(Warning::unwritable,
              fmt::format("compiled code is not kept in the disk cache '{}': {}", directory_.string(), error.what()));
    return false;
  }
  account(content.size());
  return true;
}

void Store::install(const fs::path& path, const std::string& content) {
  const fs::path parent = path.parent_path();
  if (::mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST) {
    throw UserError(fmt::format("cannot make the directory '{}': {}", parent.string(), base::errno_text(errno)));
  }
  std::string staged = (root_ / "staging" / "XXXXXX").string();
  const base::Fd fd(::mkostemp(staged.data(), O_CLOEXEC));
  if (!fd.valid()) {
    throw UserError(fmt::format("cannot write '{}': {}", path.string(), base::errno_text(errno)));
  }
  try {
    base::write_all(fd.get(), content, path);
    if (::rename(staged.c_str(), path.c_str()) != 0) {
      throw UserError(fmt::format("cannot write '{}': {}", path.string(), base::errno_text(errno)));
    }
  } catch (...) {
    ::unlink(staged.c_str());
    throw;
  }
}

void Store::account(std::uint64_t added) {
  {
    const std::lock_guard lock(mutex_);
    ++counters_.stored;
    estimated_bytes_ += added;
    if (puts_until_scan_-- > 0 && estimated_bytes_ <= limit_bytes_) return;
    puts_until_scan_ = kPutsBetweenScans;
  }
  std::uint64_t bytes = stats().bytes;
  if (bytes > limit_bytes_) {
    prune(limit_bytes_ / 5 * 4);
    bytes = stats().bytes;
  }
  const std::lock_guard lock(mutex_);
  estimated_bytes_ = bytes;
}

}  // namespace stax::cache
