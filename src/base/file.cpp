#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stax/base/error.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace stax::base {
namespace fs = std::filesystem;

namespace {
[[noreturn]] void fail(std::string_view action, const fs::path& path, int error) {
  throw UserError(fmt::format("cannot {} '{}': {}", action, path.string(), errno_text(error)), {},
                  error == ENOSPC || error == EDQUOT ? "Free some space there" : "");
}
}  // namespace

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::string errno_text(int error) { return std::generic_category().message(error); }

std::string read_all(int fd) {
  std::string content;
  struct stat info {};
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) content.reserve(static_cast<std::size_t>(info.st_size) + 1);
  char buffer[65536];
  while (true) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count == 0) return content;
    if (count > 0) {
      content.append(buffer, static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      throw UserError("cannot read: " + errno_text(errno));
    }
  }
}

std::string read_file(const fs::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) fail("read", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode)) fail("read", path, EISDIR);
  return read_all(fd.get());
}

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      fail("write", path, errno);
    }
  }
}

void write_file_atomic(const fs::path& path, std::string_view bytes, mode_t mode) {
  std::string staged = path.string() + ".tmp.XXXXXX";
  Fd fd(::mkostemp(staged.data(), O_CLOEXEC));
  if (!fd.valid()) fail("write", path, errno);
  try {
    write_all(fd.get(), bytes, path);
    if (::fchmod(fd.get(), mode) != 0 || ::fsync(fd.get()) != 0) fail("write", path, errno);
    if (::rename(staged.c_str(), path.c_str()) != 0) fail("write", path, errno);
  } catch (...) {
    ::unlink(staged.c_str());
    throw;
  }
}

MappedFile::MappedFile(const fs::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) fail("open", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) fail("open", path, errno);
  if (!S_ISREG(info.st_mode)) throw UserError(fmt::format("cannot open '{}': it is not a regular file", path.string()));
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ == 0) return;
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) fail("map", path, errno);
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void make_private_directory(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) fail("make the directory", path, error.value());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail("make the directory", path, errno);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) fail("use the directory", path, errno);
  if (!S_ISDIR(info.st_mode)) fail("use the directory", path, ENOTDIR);
  if (info.st_uid != ::geteuid()) {
    throw UserError(
        fmt::format("the directory '{}' belongs to user {}, not to user {}", path.string(), info.st_uid, ::geteuid()),
        {}, "Choose a directory of your own");
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw UserError(
        fmt::format("others may write to the directory '{}' (mode {:o})", path.string(), info.st_mode & 07777u), {},
        fmt::format("Run: chmod 700 '{}'", path.string()));
  }
}

}  // namespace stax::base
