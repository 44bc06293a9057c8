// What moves out of the loop over a row.
#include <gtest/gtest.h>

#include "fusion/fusion.h"
#include "program_maker.h"

namespace stax::fusion::test {
namespace {

using enum loop::ScalarOp;

// The phase of the first load of input 1.
int phase_of_load(const loop::Program& p, int input) {
  const auto& k = std::get<loop::Kernel>(p.items.at(0));
  for (const loop::Access& a : loop::reads_of(k))
    if (p.buffers[static_cast<std::size_t>(a.buffer)].input == input)
      return k.phases[static_cast<std::size_t>(a.phase)].inner.empty() ? 0 : 1;
  return -1;
}

TEST(HoistUnitValues, ARowValueIsReadOnceARow) {
  ProgramMaker m(true);
  const Expr n = m.size(500), d = m.size(100);
  const View x = m.input({n, d}), s = m.input({n, m.number(1)});
  m.output(m.reduce(CombineOp::sum, m.binary(mul, x, s), {1}));
  const FusionResult r = fuse(m.program());
  EXPECT_EQ(r.kernels_after, 1);
  EXPECT_EQ(phase_of_load(r.program, 1), 0) << loop::to_text(r.program);
  EXPECT_EQ(difference(m.program(), r.program, m.bindings(1, false)), "");
}

TEST(HoistUnitValues, AGatheredRowChecksItsIndexOnce) {
  ProgramMaker m(true);
  const Expr n = m.size(300), d = m.size(100);
  const View table = m.input({m.number(50), d}), ids = m.input({n}, Dtype::i64), y = m.input({n, d});
  const View h = m.binary(add, m.gather_rows(table, ids), y);
  m.output(m.binary(mul, h, m.reduce(CombineOp::sum, h, {1}, true)));
  const FusionResult r = fuse(m.program());
  ASSERT_EQ(r.kernels_after, 1) << report(r);
  const auto& k = std::get<loop::Kernel>(r.program.items[0]);
  int bounds = 0;
  for (loop::ValueId v = 0; v < static_cast<loop::ValueId>(k.values.size()); ++v)
    if (k.values[static_cast<std::size_t>(v)].op == bounded) {
      ++bounds;
      EXPECT_TRUE(k.phases[static_cast<std::size_t>(loop::phase_of(k, v))].inner.empty());
    }
  EXPECT_EQ(bounds, 1) << loop::to_text(r.program);
  loop::verify(r.program);
  EXPECT_EQ(difference(m.program(), r.program, m.bindings(1, false)), "");
}

TEST(HoistUnitValues, NothingIsReadBeforeALoopThatMayBeEmpty) {
  ProgramMaker m(false);
  symbolic::SymbolInfo any;
  any.range = {0, 1000};
  any.hint = 100;
  const Expr d = m.program().context->symbol("d", any), n = m.number(500);
  m.program().sizes.push_back(d);
  const View x = m.input({n, d}), s = m.input({n, m.number(1)});
  m.output(m.reduce(CombineOp::sum, m.binary(mul, x, s), {1}));
  const FusionResult r = fuse(m.program());
  EXPECT_EQ(phase_of_load(r.program, 1), 1) << loop::to_text(r.program);
}

TEST(HoistUnitValues, AnInputThatTheKernelOverwritesStaysInItsLoop) {
  ProgramMaker m(true);
  const Expr n = m.size(500), d = m.size(100);
  const View x = m.input({n, d}), s = m.input({n, m.number(1)});
  const View sum = m.reduce(CombineOp::sum, m.binary(mul, x, s), {1}, true);
  m.write(s, sum);
  const FusionResult r = fuse(m.program());
  loop::verify(r.program);
  EXPECT_EQ(difference(m.program(), r.program, m.bindings(1, false)), "") << loop::to_text(r.program);
}

}  // namespace
}  // namespace stax::fusion::test
