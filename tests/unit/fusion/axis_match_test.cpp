// Pairing of axes by the strides of common buffers.
#include "fusion/axis_match.h"

#include <gtest/gtest.h>

#include "program_maker.h"

namespace stax::fusion::test {
namespace {

class AxisMatching : public ::testing::Test {
 protected:
  ProgramMaker m{true};
  loop::Program& p = m.program();
  Expr b = m.size(4), s = m.size(6), t = m.size(10);

  loop::Kernel kernel(const std::vector<Expr>& extents) {
    loop::Kernel k;
    for (Expr e : extents) k.outer.push_back({p.fresh_axis(e, 'i'), e});
    return k;
  }
  // "0-1 1-0": pairs of positions.
  static std::string pairs(const AxisMatch& a) {
    std::string text;
    for (std::size_t i = 0; i < a.a().entries.size(); ++i)
      if (const int partner = a.a().entries[i].partner; partner >= 0)
        text += (text.empty() ? "" : " ") + std::to_string(i) + "-" + std::to_string(partner);
    return text;
  }
};

TEST_F(AxisMatching, TransposedReadPairsCrosswise) {
  const loop::Kernel x = kernel({b, s}), y = kernel({s, b});
  AxisMatch a(p, x, y);
  EXPECT_TRUE(a.match(x.outer[0].var * s + x.outer[1].var, y.outer[1].var * s + y.outer[0].var));
  EXPECT_EQ(pairs(a), "0-1 1-0");
}

TEST_F(AxisMatching, AMergedAxisIsSplitToMeetItsParts) {
  const loop::Kernel x = kernel({b, s, t}), y = kernel({b * s, t});
  AxisMatch a(p, x, y);
  const Expr store = x.outer[0].var * s * t + x.outer[1].var * t + x.outer[2].var;
  EXPECT_TRUE(a.match(store, y.outer[0].var * t + y.outer[1].var));
  EXPECT_EQ(pairs(a), "0-0 1-1 2-2");
  ASSERT_EQ(a.b().entries.size(), 3u);
  EXPECT_EQ(a.b().entries[0].axis.extent, b);
  EXPECT_EQ(a.b().entries[1].axis.extent, s);
  EXPECT_EQ(a.b().splits.at(y.outer[0].var), a.b().entries[0].axis.var * s + a.b().entries[1].axis.var);
}

TEST_F(AxisMatching, OneAxisIsSplitInThree) {
  const loop::Kernel x = kernel({b * s * t}), y = kernel({b, s, t});
  AxisMatch a(p, x, y);
  EXPECT_TRUE(a.match(x.outer[0].var, y.outer[0].var * s * t + y.outer[1].var * t + y.outer[2].var));
  EXPECT_EQ(pairs(a), "0-0 1-1 2-2");
  const Expr whole = a.a().splits.at(x.outer[0].var);
  EXPECT_EQ(whole, a.a().entries[0].axis.var * s * t + a.a().entries[1].axis.var * t + a.a().entries[2].axis.var);
}

TEST_F(AxisMatching, AContradictionChangesNothing) {
  const loop::Kernel x = kernel({b, b}), y = kernel({b, b});
  AxisMatch a(p, x, y);
  EXPECT_TRUE(a.match(x.outer[0].var * b + x.outer[1].var, y.outer[0].var * b + y.outer[1].var));
  EXPECT_FALSE(a.match(x.outer[0].var * b + x.outer[1].var, y.outer[1].var * b + y.outer[0].var));
  EXPECT_EQ(pairs(a), "0-0 1-1");
}

TEST_F(AxisMatching, LengthsThatDoNotDivideStayUnpaired) {
  const loop::Kernel x = kernel({b}), y = kernel({s});
  AxisMatch a(p, x, y);
  EXPECT_FALSE(a.match(x.outer[0].var, y.outer[0].var));
  EXPECT_EQ(pairs(a), "");
}

TEST_F(AxisMatching, ExactQuotients) {
  EXPECT_EQ(exact_quotient(b * s * t, s), b * t);
  EXPECT_EQ(exact_quotient(b * s + s, s), b + 1);
  EXPECT_EQ(exact_quotient(m.number(12), m.number(4)), m.number(3));
  EXPECT_EQ(exact_quotient(m.number(12), m.number(5)), Expr());
  EXPECT_EQ(exact_quotient(b, s), Expr());
  EXPECT_EQ(exact_quotient(b, m.number(0)), Expr());
}

}  // namespace
}  // namespace stax::fusion::test
