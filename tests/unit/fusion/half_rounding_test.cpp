// Rounding of half types on the way from producer to consumer (docs/semantics.md, rule 2).
#include <gtest/gtest.h>

#include <algorithm>

#include "fusion/fusion.h"
#include "program_maker.h"

namespace stax::fusion::test {
namespace {

using enum loop::ScalarOp;

int roundings(const FusionResult& r) {
  int n = 0;
  for (const loop::Item& item : r.program.items)
    for (const loop::Value& v : std::get<loop::Kernel>(item).values) {
      n += v.op == round_to;
      if (v.op == round_to) {
        EXPECT_EQ(v.buffer, -1);
      }
    }
  return n;
}

class HalfRounding : public ::testing::Test {
 protected:
  ProgramMaker m{true};
  View x = m.input({m.size(300), m.size(100)}, Dtype::bf16);
};

TEST_F(HalfRounding, AnIntermediateIsNotRounded) {
  m.output(m.unary(exp, m.unary(tanh, x)));
  const FusionResult r = fuse(m.program());
  EXPECT_EQ(r.kernels_after, 1);
  EXPECT_EQ(roundings(r), 0);
}

TEST_F(HalfRounding, StrictRoundsEveryIntermediate) {
  m.output(m.unary(exp, m.unary(tanh, x)));
  const loop::Program before = m.program();
  FusionOptions strict;
  strict.strict = true;
  const FusionResult r = fuse(before, strict);
  EXPECT_EQ(r.kernels_after, 1);
  EXPECT_EQ(roundings(r), 1);
  EXPECT_EQ(difference(before, r.program, m.bindings(1, false)), "");
}

TEST_F(HalfRounding, AValueThatIsStoredAndUsedIsTheRoundedOneInBothUses) {
  const View t = m.unary(tanh, x);
  m.output(t);
  m.output(m.unary(exp, t));
  const loop::Program before = m.program();
  const FusionResult r = fuse(before);
  EXPECT_EQ(r.kernels_after, 1);
  EXPECT_EQ(roundings(r), 1);
  EXPECT_EQ(difference(before, r.program, m.bindings(1, false)), "");
}

TEST_F(HalfRounding, WhenTheBufferGoesItsRoundingGoes) {
  // The second reader joins later than the first: while it was apart, the value was stored.
  const View t = m.unary(tanh, x);
  const View s = m.reduce(CombineOp::sum, m.cast(t, Dtype::f32), {1}, true);
  m.output(m.binary(mul, m.cast(t, Dtype::f32), s));
  const FusionResult r = fuse(m.program());
  EXPECT_EQ(r.kernels_after, 1) << report(r);
  EXPECT_EQ(roundings(r), 0) << loop::to_text(r.program);
}

TEST_F(HalfRounding, AnExplicitCastRounds) {
  const View y = m.cast(m.unary(exp, m.cast(x, Dtype::f32)), Dtype::f16);
  m.output(m.unary(exp, m.cast(y, Dtype::f32)));
  const FusionResult r = fuse(m.program());
  EXPECT_EQ(r.kernels_after, 1);
  EXPECT_EQ(roundings(r), 1) << loop::to_text(r.program);
}

}  // namespace
}  // namespace stax::fusion::test
