#include "base/sealed_file.h"

#include <fcntl.h>
#include <stax/base/error.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace stax::base {
namespace {

// A different spelling of /proc/self/fd/N for every serial number: its bits as "./" and "/".
std::string unique_path(int fd) {
  static std::atomic<std::uint64_t> counter = 0;
  std::string path = "/proc/self/fd/";
  for (std::uint64_t serial = ++counter; serial > 0; serial >>= 1) path += (serial & 1) != 0 ? "./" : "/";
  return path + std::to_string(fd);
}

}  // namespace

SealedFile::SealedFile(std::string_view bytes, const std::string& name)
    : fd_(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (!fd_.valid()) throw UserError("cannot make a file in memory: " + errno_text(errno));
  write_all(fd_.get(), bytes, name);
  if (::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    throw UserError("cannot seal a file in memory: " + errno_text(errno));
  }
  path_ = unique_path(fd_.get());
}

}  // namespace stax::base
