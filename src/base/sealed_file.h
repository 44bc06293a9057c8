// Bytes under a path that nobody can change any more: for dlopen of verified code.
#pragma once
#include <string>
#include <string_view>

#include "base/file.h"

namespace stax::base {

// A sealed file in memory. path() is valid in this process while the object lives; a library that was loaded from it
// stays loaded afterwards. Every object has a path of its own, also after the descriptor's number was used again: the
// dynamic loader takes equal names for the same library.
class SealedFile {
 public:
  // UserError when the system refuses (no memory, no descriptors).
  explicit SealedFile(std::string_view bytes, const std::string& name = "stax");
  const std::string& path() const { return path_; }

 private:
  Fd fd_;
  std::string path_;
};

}  // namespace stax::base
