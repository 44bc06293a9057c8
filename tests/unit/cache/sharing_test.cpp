// Threads and processes that share a directory; writers that are killed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "fixture.h"

namespace stax::cache {

namespace {
// Content that depends on the key, so that a mix-up is seen.
std::string content(int key, int version) {
  return std::to_string(key) + ":" + std::string(20000, static_cast<char>('a' + version % 26));
}

bool plausible(int key, std::string_view bytes) {
  const std::string prefix = std::to_string(key) + ":";
  return bytes.starts_with(prefix) && bytes.size() == prefix.size() + 20000 &&
         bytes.find_first_not_of(bytes.back(), prefix.size()) == std::string_view::npos;
}
}  // namespace

class StoreConcurrency : public StoreTest {};

TEST_F(StoreConcurrency, ThreadsReadWritePruneAndClear) {
  Store store = open(200000);
  std::atomic<int> bad = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const int key = (i + t) % 10;
        if (const auto entry = store.get(key_of(std::to_string(key)))) {
          if (!plausible(key, entry->at("object"))) ++bad;
        } else {
          put(store, std::to_string(key), content(key, i));
        }
        if (i % 20 == 19) t == 0 ? store.clear() : store.prune(100000);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(log_.text(), "");
}

TEST_F(StoreTest, ProcessesShareADirectory) {
  std::vector<pid_t> children;
  for (int p = 0; p < 3; ++p) {
    children.push_back(::fork());
    if (children.back() == 0) {
      Store store = open(150000);
      int bad = 0;
      for (int i = 0; i < 100; ++i) {
        const int key = (i * (p + 1)) % 10;
        if (const auto entry = store.get(key_of(std::to_string(key))))
          bad += plausible(key, entry->at("object")) ? 0 : 1;
        put(store, std::to_string(key), content(key, i));
      }
      ::_exit(bad > 0 || !log_.text().empty() ? 1 : 0);
    }
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(StoreTest, AKilledWriterLeavesAValidCache) {
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      Store store = open();
      for (int i = 0;; ++i) put(store, std::to_string(i % 5), content(i % 5, i));
    }
    ::usleep(static_cast<useconds_t>(2000 + 700 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    Store store = open();
    for (int key = 0; key < 5; ++key) {
      const auto entry = store.get(key_of(std::to_string(key)));
      EXPECT_TRUE(!entry || plausible(key, entry->at("object")));
    }
    EXPECT_EQ(store.stats().corrupt, 0U);
    EXPECT_TRUE(put(store, "after", "x"));
  }
  EXPECT_EQ(log_.text(), "");
}

}  // namespace stax::cache
