// Random graphs: reference against loops as lowered, as fused, and compiled. A failing seed is replayed by
// STAX_FUZZ_SEED=N (with STAX_FUZZ_COUNT=M: M seeds from there).
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "campaign.h"

namespace stax::fuzz {
namespace {

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* v = std::getenv(name);
  return v && *v ? std::strtoull(v, nullptr, 10) : otherwise;
}

void expect_none(const Totals& t) {
  for (const Failure& f : t.failures) ADD_FAILURE() << f.report;
}

// Sanitized code is an order of magnitude slower: it sees a tenth of the graphs.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kShare = 10;
#else
constexpr int kShare = 1;
#endif

// The same graphs every time.
TEST(Fuzz, Loops) {
  Campaign c;
  c.graphs = 1500 / kShare;
  const Totals t = run(c);
  expect_none(t);
  EXPECT_GT(t.operators, t.graphs * 8);
  EXPECT_GT(t.loop_calls, t.graphs);
}

// Other graphs every day.
TEST(Fuzz, CompiledRotating) {
  const auto day =
      std::chrono::duration_cast<std::chrono::hours>(std::chrono::system_clock::now().time_since_epoch()).count() / 24;
  Campaign c;
  c.first_seed = number("STAX_FUZZ_START", 1000000 + static_cast<std::uint64_t>(day) * 1000);
  c.graphs = 120 / kShare;
  c.compile_every = 1;
  c.most_failures = 3;
  RecordProperty("first_seed", std::to_string(c.first_seed));
  const Totals t = run(c);
  expect_none(t);
  EXPECT_GT(t.compiled_calls, c.graphs * 5 / 6);
}

TEST(Fuzz, Seed) {
  if (!std::getenv("STAX_FUZZ_SEED")) GTEST_SKIP() << "STAX_FUZZ_SEED names a seed to replay";
  Campaign c;
  c.first_seed = number("STAX_FUZZ_SEED", 1);
  c.graphs = static_cast<std::int64_t>(number("STAX_FUZZ_COUNT", 1));
  c.compile_every = 1;
  expect_none(run(c));
}

// A recipe is a pure function of its seed.
TEST(Fuzz, Deterministic) {
  for (std::uint64_t seed : {1, 2, 77}) {
    const Recipe a = draw_recipe(seed), b = draw_recipe(seed);
    ASSERT_EQ(a.steps.size(), b.steps.size());
    EXPECT_GE(a.steps.size(), 8u);
    EXPECT_LE(a.steps.size(), 40u);
    for (std::size_t i = 0; i < a.steps.size(); ++i) EXPECT_EQ(a.steps[i].p, b.steps[i].p);
  }
}

}  // namespace
}  // namespace stax::fuzz
