// Fused programs compute what the lowered ones compute: bit for bit, since fusion neither reorders nor drops
// operations; half types under strict numerics, where no rounding is dropped either.
// STAX_FUSION_SEED=n replays one seed, STAX_FUSION_SEEDS=n runs n of them.
#include <gtest/gtest.h>

#include <cstdlib>

#include "fusion/fusion.h"
#include "fusion/split.h"
#include "random_program.h"

namespace stax::fusion::test {
namespace {

struct Case {
  bool dynamic, exact, split;
};

// Empty when fusion keeps the values of the seed's program.
std::string check(std::uint32_t seed, const Case& c, int* before = nullptr, int* after = nullptr) {
  const RandomProgram p = random_program(seed, 6 + static_cast<int>(seed % 35), c.dynamic, c.exact);
  loop::verify(p.program);
  loop::Program lowered = p.program;
  if (c.split) split_reductions(lowered, {.parallel_units = 64, .min_chunk = 1, .column_tile = 1});
  FusionOptions options;
  options.strict = !c.exact;
  if (seed % 3 == 0) options.cache_bytes = 64;
  if (seed % 4 == 0) options.small_elements = 0;
  FusionResult r = fuse(lowered, options);
  if (before) *before += r.kernels_before;
  if (after) *after += r.kernels_after;
  try {
    loop::verify(r.program);
    const std::string d = difference(p.program, r.program, p.bindings);
    if (d.empty()) return {};
    return d + "\n" + loop::to_text(p.program) + "\n" + loop::to_text(r.program);
  } catch (const std::exception& e) {
    return std::string(e.what()) + "\n" + loop::to_text(p.program) + "\n" + loop::to_text(r.program);
  }
}

void check_all(const Case& c, std::uint32_t seeds) {
  int before = 0, after = 0;
  const char* one = std::getenv("STAX_FUSION_SEED");
  if (const char* more = std::getenv("STAX_FUSION_SEEDS")) seeds = static_cast<std::uint32_t>(std::atoi(more));
  for (std::uint32_t seed = one ? static_cast<std::uint32_t>(std::atoi(one)) : 0; one || seed < seeds; ++seed) {
    ASSERT_EQ(check(seed, c, &before, &after), "") << "seed " << seed;
    if (one) return;
  }
  EXPECT_LT(after * 2, before);  // it does fuse
}

TEST(RandomPrograms, ExactArithmetic) { check_all({false, true, false}, 400); }
TEST(RandomPrograms, ExactArithmeticDynamic) { check_all({true, true, false}, 400); }
TEST(RandomPrograms, FloatsAndHalvesStrict) { check_all({false, false, false}, 400); }
TEST(RandomPrograms, FloatsAndHalvesStrictDynamic) { check_all({true, false, false}, 400); }
TEST(RandomPrograms, SplitReductionsExact) { check_all({false, true, true}, 300); }
TEST(RandomPrograms, SplitReductionsExactDynamic) { check_all({true, true, true}, 300); }

TEST(RandomPrograms, OtherOutputsAndFusionOffDoNotChangeExactValues) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const RandomProgram p = random_program(seed, 12, seed % 2, true);
    // All outputs but the first dropped, or one output asked for twice.
    loop::Program one = p.program, twice = p.program;
    one.outputs.resize(1);
    for (loop::Buffer& b : one.buffers)
      if (b.kind == loop::BufferKind::output && &b != &one.buffers[static_cast<std::size_t>(one.outputs[0].buffer)])
        b.kind = loop::BufferKind::temporary;
    twice.outputs.insert(twice.outputs.begin(), p.program.outputs.back());
    const auto all = fuse(p.program), first = fuse(one), doubled = fuse(twice);
    const auto run = [&](const loop::Program& q) {
      loop::Bindings b = p.bindings;
      for (Array& a : b.inputs) a = contiguous_copy(a);
      return loop::interpret(q, b);
    };
    const auto out = run(all.program), out_first = run(first.program), out_doubled = run(doubled.program);
    const auto same = [](const Array& a, const Array& b) {
      bool equal = a.layout().sizes == b.layout().sizes;
      for_each_index(a.sizes(),
                     [&](std::span<const std::int64_t> i) { equal = equal && read_f64(a, i) == read_f64(b, i); });
      return equal;
    };
    EXPECT_TRUE(same(out[0], out_first[0])) << seed;
    EXPECT_TRUE(same(out[0], out_doubled[1])) << seed;
    EXPECT_TRUE(same(out.back(), out_doubled[0])) << seed;
  }
}

TEST(RandomPrograms, ResultIsDeterministic) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const auto text = [&] {
      const RandomProgram p = random_program(seed, 20, true, false);
      return loop::to_text(fuse(p.program).program);
    };
    EXPECT_EQ(text(), text());
  }
}

}  // namespace
}  // namespace stax::fusion::test
