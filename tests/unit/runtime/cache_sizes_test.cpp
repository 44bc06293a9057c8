#include "runtime/cpu/cache_sizes.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace stax::runtime {
namespace {

void add_cache(const base::TempDir& folder, int index, const char* level, const char* type, const char* size) {
  const auto path = folder.path() / ("index" + std::to_string(index));
  std::filesystem::create_directory(path);
  base::write_file_atomic((path / "level").string(), level);
  base::write_file_atomic((path / "type").string(), type);
  base::write_file_atomic((path / "size").string(), size);
}

TEST(CacheSizes, InstructionCachesDoNotCount) {
  const base::TempDir folder;
  add_cache(folder, 0, "1\n", "Data\n", "48K\n");
  add_cache(folder, 1, "1\n", "Instruction\n", "32K\n");
  add_cache(folder, 2, "2\n", "Unified\n", "1024K\n");
  add_cache(folder, 3, "3\n", "Unified\n", "32M\n");
  const CacheSizes sizes = cache_sizes_in(folder.path().string());
  EXPECT_EQ(sizes.l1, 48 << 10);
  EXPECT_EQ(sizes.l2, 1 << 20);
  EXPECT_EQ(sizes.last, 32 << 20);
}

TEST(CacheSizes, TheLastLevelMayBeTheSecond) {
  const base::TempDir folder;
  add_cache(folder, 0, "1\n", "Data\n", "32K\n");
  add_cache(folder, 1, "2\n", "Unified\n", "512K\n");
  EXPECT_EQ(cache_sizes_in(folder.path().string()).last, 512 << 10);
}

TEST(CacheSizes, WhatIsNotThereIsUnknown) {
  const CacheSizes sizes = cache_sizes_in("/nowhere");
  EXPECT_EQ(sizes.l1, 0);
  EXPECT_EQ(sizes.last, 0);
}

}  // namespace
}  // namespace stax::runtime
