#include <gtest/gtest.h>
#include <stdlib.h>

#include "cache/store.h"

namespace stax::cache {

class DefaultDirectory : public ::testing::Test {
 protected:
  DefaultDirectory() {
    for (const char* name : {"STAX_CACHE", "STAX_CACHE_DIR", "XDG_CACHE_HOME", "STAX_CACHE_LIMIT_MB", "HOME"}) {
      const char* value = ::getenv(name);
      saved_.emplace_back(name, value != nullptr ? std::optional<std::string>(value) : std::nullopt);
      ::unsetenv(name);
    }
  }
  ~DefaultDirectory() override {
    for (const auto& [name, value] : saved_) value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> saved_;
};

TEST_F(DefaultDirectory, FollowsTheVariablesInOrder) {
  ::setenv("HOME", "/home/ada", 1);
  EXPECT_EQ(default_directory(), "/home/ada/.cache/stax");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(default_directory(), "/home/ada/.cache/stax");
  ::setenv("XDG_CACHE_HOME", "/var/tmp/ada", 1);
  EXPECT_EQ(default_directory(), "/var/tmp/ada/stax");
  ::setenv("STAX_CACHE_DIR", "/data/stax", 1);
  EXPECT_EQ(default_directory(), "/data/stax");
  ::setenv("STAX_CACHE", "0", 1);
  EXPECT_EQ(default_directory(), "");
}

TEST_F(DefaultDirectory, TheLimitIsInMebibytes) {
  EXPECT_EQ(default_limit_bytes(), std::uint64_t{2048} << 20);
  ::setenv("STAX_CACHE_LIMIT_MB", "3", 1);
  EXPECT_EQ(default_limit_bytes(), 3145728U);
}

}  // namespace stax::cache
