// Fusing five hundred items takes well under 50 ms of processor time in a release build; the bound here leaves room for
// sanitizers and busy machines.
#include <gtest/gtest.h>

#include <ctime>

#include "fusion/fusion.h"
#include "program_maker.h"

namespace stax::fusion::test {
namespace {

using enum loop::ScalarOp;

double milliseconds_to_fuse(const loop::Program& p) {
  const std::clock_t start = std::clock();
  fuse(p);
  return 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(FusionSpeed, AChainOfFiveHundredOperators) {
  ProgramMaker m(true);
  const Expr n = m.size(512), d = m.size(384);
  const View y = m.input({n, d});
  View x = m.input({n, d});
  for (int i = 0; i < 500; ++i) x = i % 3 == 0 ? m.unary(neg, x) : m.binary(i % 3 == 1 ? add : mul, x, y);
  m.output(x);
  EXPECT_LT(milliseconds_to_fuse(m.program()), 400);
}

TEST(FusionSpeed, FortyTransformerLayers) {
  ProgramMaker m(true);
  const Expr n = m.size(512), d = m.size(384);
  View x = m.input({n, d});
  while (m.program().items.size() < 500) {
    const View w = m.input({d, d}), g = m.input({d});
    const View c = m.binary(sub, x, m.mean(x, {1}));
    const View scale = m.unary(rsqrt, m.mean(m.binary(mul, c, c), {1}));
    const View h = m.binary(mul, m.binary(mul, c, scale), g);
    const View y = m.matmul(h, w);
    x = m.binary(add, x, m.matmul(m.binary(mul, y, m.add_number(m.unary(erf, y), 1)), w));
  }
  m.output(x);
  EXPECT_LT(milliseconds_to_fuse(m.program()), 400);
}

}  // namespace
}  // namespace stax::fusion::test
