// Writes to inputs: never reordered against reads of the same storage, joined where every unit overwrites what it
// reads.
#include <gtest/gtest.h>

#include "fusion/fusion.h"
#include "program_maker.h"

namespace stax::fusion::test {
namespace {

using enum loop::ScalarOp;

FusionResult fused(ProgramMaker& m) {
  const loop::Program before = m.program();
  loop::verify(before);
  FusionResult r = fuse(before);
  loop::verify(r.program);
  EXPECT_EQ(difference(before, r.program, m.bindings(3, false)), "") << loop::to_text(r.program);
  return r;
}

TEST(InPlace, AddToItselfIsOneKernel) {
  ProgramMaker m(true);
  const View x = m.input({m.size(50), m.size(40)});
  m.write(x, m.unary(exp, m.add_number(x, 1)));
  EXPECT_EQ(fused(m).kernels_after, 1);
}

TEST(InPlace, SoftmaxIntoItsInputIsOneKernel) {
  ProgramMaker m(true);
  const View x = m.input({m.size(500), m.size(40)});
  const View e = m.unary(exp, m.binary(sub, x, m.reduce(CombineOp::max, x, {1}, true)));
  m.write(x, m.binary(div, e, m.reduce(CombineOp::sum, e, {1}, true)));
  const FusionResult r = fused(m);
  EXPECT_EQ(r.kernels_after, 1) << loop::to_text(r.program) << report(r);
  EXPECT_EQ(r.program.buffers.size(), 1u) << loop::to_text(r.program);
}

TEST(InPlace, ATransposedWriteNeedsItsBuffer) {
  ProgramMaker m(false);
  const Expr n = m.size(150);
  const View x = m.input({n, n});
  m.write(x, m.unary(exp, m.transpose(x, 0, 1)));
  const FusionResult r = fused(m);
  EXPECT_EQ(r.kernels_after, 2) << loop::to_text(r.program);
  ASSERT_FALSE(r.refusals.empty());
  EXPECT_EQ(r.refusals[0].reason, "an input is overwritten by other units than those that read it") << report(r);
}

TEST(InPlace, AFlippedRowIsReadBeforeItIsOverwritten) {
  ProgramMaker m(true);
  const View x = m.input({m.size(500), m.size(40)});
  const View s = m.reduce(CombineOp::sum, x, {1}, true);
  m.write(x, m.binary(add, m.flip(x, 1), s));
  EXPECT_GE(fused(m).kernels_after, 2);
}

TEST(InPlace, AProducerDoesNotMoveBehindTheWriteOfItsInput) {
  ProgramMaker m(true);
  const Expr a = m.size(50), b = m.size(40);
  const View x = m.input({a, b}), y = m.input({a, b}), z = m.input({b, a});
  const View t = m.add_number(x, 1);  // reads the old x
  m.write(x, y);
  m.output(m.binary(mul, m.transpose(t, 0, 1), m.binary(add, z, m.transpose(x, 0, 1))));  // the new x
  fused(m);
}

TEST(InPlace, TwoWritersOfOneInputKeepTheirOrder) {
  ProgramMaker m(true);
  const Expr a = m.size(50), b = m.size(40);
  const View x = m.input({a, b}), y = m.input({a, b}), z = m.input({a, b});
  m.write(x, m.unary(neg, y));
  m.write(x, m.unary(exp, z));
  EXPECT_EQ(fused(m).kernels_after, 2);
}

}  // namespace
}  // namespace stax::fusion::test
