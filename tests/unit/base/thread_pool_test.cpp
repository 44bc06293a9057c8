#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace stax::base {

TEST(ThreadPoolConcurrency, ReturnsResultsThroughFutures) {
  ThreadPool pool(3);
  std::vector<std::future<int>> results;
  for (int i = 0; i < 100; ++i) results.push_back(pool.submit([i] { return i * i; }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), i * i);
}

TEST(ThreadPoolConcurrency, AnExceptionArrivesAndThePoolGoesOn) {
  ThreadPool pool(1);
  auto failed = pool.submit([]() -> int { throw std::runtime_error("task"); });
  auto fine = pool.submit([] { return 7; });
  EXPECT_THROW(failed.get(), std::runtime_error);
  EXPECT_EQ(fine.get(), 7);
}

TEST(ThreadPoolConcurrency, DestructionFinishesQueuedTasks) {
  std::atomic<int> done = 0;
  {
    ThreadPool pool(2);
    for (int i = 0; i < 50; ++i) pool.submit([&done] { ++done; });
  }
  EXPECT_EQ(done, 50);
}

TEST(ThreadPool, ThereIsACore) { EXPECT_GE(usable_cores(), 1); }

}  // namespace stax::base
