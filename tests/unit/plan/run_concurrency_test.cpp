#include <thread>

#include "helpers.h"

namespace stax::plan::test {
namespace {

TEST(PlanConcurrency, OneExecutableFromManyThreads) {
  const Executable e = executable(kAdd, {{"add_f32", add_f32}});
  std::vector<std::thread> threads;
  std::atomic<int> bad{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const std::int64_t rows = 2 + (t + i) % 7;
        const Call call({filled({rows, 3}, static_cast<float>(t)), filled({rows, 3}, static_cast<float>(i))});
        if (!e.check(call.args())) ++bad;
        const Array out = run(e, call)[0];
        for (std::int64_t j = 0; j < rows * 3; ++j)
          if (out.data_as<float>()[j] != static_cast<float>(t + i) + 2 * static_cast<float>(j)) ++bad;
        const Call misfit({filled({rows, 3}, 0), filled({rows + 1, 3}, 0)});
        GuardFailure why;
        if (e.check(misfit.args(), &why) || why.text.empty()) ++bad;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(bad, 0);
}

}  // namespace
}  // namespace stax::plan::test
