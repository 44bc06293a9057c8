// Files: whole reads, atomic writes, read-only mappings, temporary and private directories.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace stax::base {

// An owned file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// "No such file or directory" for ENOENT. Thread-safe.
std::string errno_text(int error);

// The whole file. UserError with path and reason when it cannot be read.
std::string read_file(const std::filesystem::path& path);
// The rest of an open file, from its current position.
std::string read_all(int fd);
// Writes every byte or throws UserError "cannot write PATH: reason".
void write_all(int fd, std::string_view bytes, const std::filesystem::path& path);

// Replaces `path` in one step: a temporary file in the same directory, synced, then renamed. On failure the old file
// stays as it was and UserError tells the reason.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes, mode_t mode = 0644);

// A read-only mapping of a whole file. UserError when it cannot be opened or is no regular file.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// A fresh directory (0700) under $TMPDIR or /tmp, removed with its content on destruction, or by a later process when
// this one was killed.
class TempDir {
 public:
  explicit TempDir(std::string_view prefix = "stax");
  TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  TempDir& operator=(TempDir&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~TempDir();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Fd lock_;  // held as long as the directory is in use
};

// Makes `path` and its parents. The directory itself must be the user's own and gets mode 0700 when it is made;
// UserError when it belongs to another user, is no directory, or others may write to it.
void make_private_directory(const std::filesystem::path& path);

}  // namespace stax::base
