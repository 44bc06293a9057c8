#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "fixture.h"

namespace stax::cache {
namespace fs = std::filesystem;

namespace {
void set_time(const fs::path& path, std::time_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}
}  // namespace

TEST_F(StoreTest, PruneDropsTheLeastRecentlyUsed) {
  Store store = open();
  for (const char* name : {"a", "b", "c"}) put(store, name, std::string(1000, 'x'));
  set_time(file_of("a"), 1000);
  set_time(file_of("b"), 2000);
  set_time(file_of("c"), 3000);
  EXPECT_TRUE(store.get(key_of("a")));  // is now the most recently used
  EXPECT_EQ(store.prune(2300), 1U);
  EXPECT_TRUE(store.get(key_of("a")));
  EXPECT_FALSE(store.get(key_of("b")));
  EXPECT_TRUE(store.get(key_of("c")));
}

TEST_F(StoreTest, ListIsInTheOrderOfUse) {
  Store store = open();
  put(store, "a", "x");
  put(store, "b", "yy");
  set_time(file_of("a"), 2000);
  set_time(file_of("b"), 1000);
  const auto entries = store.list();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].key, key_of("b"));
  EXPECT_EQ(entries[0].last_used, 1000);
  EXPECT_EQ(entries[0].bytes, fs::file_size(file_of("b")));
  EXPECT_EQ(entries[1].key, key_of("a"));
}

TEST_F(StoreTest, PassingTheLimitPrunes) {
  Store store = open(10000);
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(put(store, std::to_string(i), std::string(1000, 'x')));
  const StoreStats stats = store.stats();
  EXPECT_LE(stats.bytes, 10000U);
  EXPECT_GE(stats.entries, 5U);
  EXPECT_GT(stats.pruned, 0U);
  EXPECT_TRUE(store.get(key_of("39")));
}

TEST_F(StoreTest, TheLimitCountsWhatOthersStored) {
  Store first = open(10000);
  put(first, "old", std::string(9000, 'x'));
  Store second = open(10000);
  put(second, "new", std::string(5000, 'x'));
  EXPECT_LE(second.stats().bytes, 10000U);
  EXPECT_TRUE(second.get(key_of("new")));
}

TEST_F(StoreTest, AnEntryAboveTheLimitIsNotStored) {
  Store store = open(1000);
  put(store, "small", "x");
  EXPECT_FALSE(put(store, "big", std::string(2000, 'x')));
  EXPECT_TRUE(store.get(key_of("small")));
}

TEST_F(StoreTest, PruneRemovesStaleStagingFilesOnly) {
  Store store = open();
  base::write_file_atomic(path() / "v1" / "staging" / "stale", "half");
  base::write_file_atomic(path() / "v1" / "staging" / "fresh", "half");
  set_time(path() / "v1" / "staging" / "stale", 1000);
  store.prune(1 << 30);
  EXPECT_FALSE(fs::exists(path() / "v1" / "staging" / "stale"));
  EXPECT_TRUE(fs::exists(path() / "v1" / "staging" / "fresh"));
}

TEST_F(StoreTest, OneProcessPrunesAtATime) {
  Store store = open();
  put(store, "a", "x");
  const base::Fd lock(::open((path() / "v1" / "lock").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  EXPECT_EQ(store.prune(0), 0U);
  ::flock(lock.get(), LOCK_UN);
  EXPECT_EQ(store.prune(0), 1U);
}

}  // namespace stax::cache
