#pragma once
#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "cache/store.h"
#include "cache/warnings.h"

namespace stax::cache {

inline base::Digest key_of(std::string_view name) { return base::sha256(name); }

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() { reset_warnings(); }

  Store open(std::uint64_t limit = 1 << 30) { return Store(path(), limit); }
  std::filesystem::path path() const { return dir_.path() / "cache"; }
  std::filesystem::path file_of(std::string_view name) const {
    const std::string hex = key_of(name).hex();
    return path() / "v1" / hex.substr(0, 2) / hex;
  }
  static bool put(Store& store, std::string_view name, std::string bytes) {
    const Blob blob{"object", std::move(bytes)};
    return store.put(key_of(name), {&blob, 1});
  }
  std::size_t staged() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path() / "v1" / "staging"),
                                                  std::filesystem::directory_iterator()));
  }

  base::TempDir dir_{"stax-cache-test"};
  base::LogCapture log_{base::LogLevel::warn};
};

}  // namespace stax::cache
