// Reference evaluation against the loop interpreter, for every operator: as lowered, as fused, with sizes as numbers
// and as symbols.
#include <gtest/gtest.h>

#include <set>

#include "compile/pipeline.h"
#include "fusion/fusion.h"
#include "op_case.h"
#include "passes/lower.h"

namespace stax::optest {
namespace {

// Operators that need no samples, and why.
const std::set<std::string> kExempt = {};

class OpReference : public testing::TestWithParam<const graph::OpDef*> {};

loop::Program lowered(const CaseGraph& g, bool strict) {
  compiler::Settings settings;
  settings.strict_numerics = strict;
  return passes::lower(compiler::run_passes(g.graph, settings), {});
}

loop::Program fused(const CaseGraph& g, bool strict) {
  compiler::Settings settings;
  settings.strict_numerics = strict;
  loop::Program p = fusion::fuse(lowered(g, strict), compiler::fusion_options(settings, schedule::CpuTarget{})).program;
  loop::verify(p);
  compiler::normalise_kernels(p);
  loop::verify(p);
  return p;
}

// Calls check(graph, expected results) for every sample and reports the first few failures.
template <class Check>
void for_each_case(const graph::OpDef& op, Sizes sizes, const Check& check) {
  int failures = 0;
  for (const OpCase& c : cases_of(op)) {
    std::string problem;
    try {
      const std::vector<Array> expected = reference(c);
      problem = check(c, build_graph(c, sizes), expected);
    } catch (const std::exception& e) {
      problem = e.what();
    }
    if (problem.empty()) continue;
    ADD_FAILURE() << c.text() << "\n  " << problem;
    if (++failures == 5) {
      ADD_FAILURE() << "…";
      return;
    }
  }
}

TEST(OpCatalogue, EveryOperatorHasSamples) {
  for (const graph::OpDef* op : tested_ops()) {
    const bool has = op->samples && !op->samples().empty();
    EXPECT_NE(has, kExempt.contains(op->name)) << op->name << (has ? " is exempt for nothing" : " has no samples");
  }
}

TEST_P(OpReference, LoopsOfNumbers) {
  for_each_case(*GetParam(), Sizes::numbers,
                [](const OpCase& c, const CaseGraph& g, const std::vector<Array>& expected) {
                  const loop::Program p = lowered(g, true);
                  loop::verify(p);
                  return difference(run_loops(p, g), expected, c.sample.tolerance);
                });
}

TEST_P(OpReference, LoopsOfSymbols) {
  for_each_case(*GetParam(), Sizes::symbols,
                [](const OpCase& c, const CaseGraph& g, const std::vector<Array>& expected) {
                  const loop::Program p = lowered(g, true);
                  loop::verify(p);
                  return difference(run_loops(p, g), expected, c.sample.tolerance);
                });
}

// Strict numerics: the fused program gives the bits of the lowered one.
TEST_P(OpReference, FusedStrict) {
  for (const Sizes sizes : {Sizes::numbers, Sizes::symbols})
    for_each_case(*GetParam(), sizes, [](const OpCase&, const CaseGraph& g, const std::vector<Array>&) {
      return difference(run_loops(fused(g, true), g), run_loops(lowered(g, true), g), 0);
    });
}

// Half types skip roundings; the others give the same bits.
TEST_P(OpReference, Fused) {
  for_each_case(*GetParam(), Sizes::symbols,
                [](const OpCase& c, const CaseGraph& g, const std::vector<Array>& expected) {
                  return difference(run_loops(fused(g, false), g), expected, c.sample.tolerance);
                });
}

std::string name_of(const testing::TestParamInfo<const graph::OpDef*>& info) { return info.param->name; }
INSTANTIATE_TEST_SUITE_P(Ops, OpReference, testing::ValuesIn(tested_ops()), name_of);

}  // namespace
}  // namespace stax::optest
