// Not under sanitizers, which have an operator new of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#include <atomic>
#include <cstdlib>
#include <new>

#include "helpers.h"

namespace {
std::atomic<long> g_news{0};
}

// Counts what the test program takes from the heap.
void* operator new(std::size_t bytes) {
  g_news.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace stax::plan::test {
namespace {

TEST(PlanWarmPath, NeedsNoHeap) {
  const Executable e = executable(kAdd, {{"add_f32", add_f32}});
  const Call call({filled({4, 3}, 0), filled({4, 3}, 0)});
  const Call misfit({filled({4, 3}, 0), filled({5, 3}, 0)});
  std::vector<Array> out(1);
  auto once = [&] {
    ASSERT_TRUE(e.check(call.args()));
    ASSERT_FALSE(e.check(misfit.args()));
    e.run(call.args(), out);
  };
  once();
  const long before = g_news;
  for (int i = 0; i < 100; ++i) once();
  EXPECT_EQ(g_news, before);
}

}  // namespace
}  // namespace stax::plan::test
#endif
