// Flat addresses back to indices, without divisions, for symbolic layouts.
#include "loop/delinearize.h"

#include "support.h"

namespace stax::loop {
namespace {

class Delinearize : public testing::Test {
 protected:
  symbolic::Context context;
  symbolic::Facts facts;
  Expr n = size("n"), m = size("m"), k = size("k");
  std::vector<Axis> produced;  // the producer's axes
  Domain domain{facts};        // the consumer's
  std::vector<Expr> i;         // its axes

  Expr size(std::string_view name) { return context.symbol(name, {{1, symbolic::kMaxInf}, 1, std::nullopt}); }
  Expr number(std::int64_t v) { return context.constant(v); }
  Expr axis(std::string name, Expr extent) {
    const Expr var = context.symbol(name, {{0, symbolic::kMaxInf}, 1, std::nullopt});
    domain.add({var, extent});
    return var;
  }
  void producer(const std::vector<Expr>& extents) {
    for (std::size_t d = 0; d < extents.size(); ++d)
      produced.push_back(
          {context.symbol("p" + std::to_string(d), {{0, symbolic::kMaxInf}, 1, std::nullopt}), extents[d]});
  }
  Expr stored(const std::vector<Expr>& strides) {
    Expr e = number(0);
    for (std::size_t d = 0; d < strides.size(); ++d) e = e + produced[d].var * strides[d];
    return e;
  }
  std::string solve(Expr address, Expr store, bool covers = false) {
    const auto result = delinearize(address, store, produced, domain, covers, covers);
    if (!result) return "none";
    std::string text;
    for (Expr e : *result) text += (text.empty() ? "" : ", ") + symbolic::to_string(e);
    return text;
  }
};

TEST_F(Delinearize, Identity) {
  producer({n, m, k});
  const Expr a = axis("a", n), b = axis("b", m), c = axis("c", k);
  EXPECT_EQ(solve(a * m * k + b * k + c, stored({m * k, k, number(1)})), "a, b, c");
}

TEST_F(Delinearize, PermutedLayout) {
  producer({n, m, k});
  const Expr a = axis("a", n), b = axis("b", m), c = axis("c", k);
  EXPECT_EQ(solve(a * m * k + b * k + c, stored({k, n * k, number(1)})), "none");  // another layout than the load's
  EXPECT_EQ(solve(a * k + b * n * k + c, stored({k, n * k, number(1)})), "a, b, c");
}

TEST_F(Delinearize, TransposedRead) {
  producer({n, m});
  const Expr a = axis("a", m), b = axis("b", n);
  EXPECT_EQ(solve(b * m + a, stored({m, number(1)})), "b, a");
}

TEST_F(Delinearize, BroadcastRead) {
  producer({n, number(1)});
  const Expr a = axis("a", n);
  axis("b", m);
  EXPECT_EQ(solve(a, stored({number(1), number(1)})), "a, 0");
}

TEST_F(Delinearize, Flips) {
  producer({n, m});
  const Expr a = axis("a", n), b = axis("b", m);
  EXPECT_EQ(solve((n - 1 - a) * m + b, stored({m, number(1)})), "-a + n - 1, b");
  EXPECT_EQ(solve(a * m + (m - 1 - b), stored({m, number(1)})), "a, -b + m - 1");
  EXPECT_EQ(solve(n * m - 1 - a * m - b, stored({m, number(1)})), "-a + n - 1, -b + m - 1");
}

TEST_F(Delinearize, FlippedStore) {
  producer({n, m});
  const Expr a = axis("a", n), b = axis("b", m);
  EXPECT_EQ(solve(a * m + b, (n - 1 - produced[0].var) * m + produced[1].var), "-a + n - 1, b");
}

TEST_F(Delinearize, SlicesWithSteps) {
  producer({n, 2 * m + 3});
  const Expr a = axis("a", n), b = axis("b", m);
  const Expr row = 2 * m + 3;
  EXPECT_EQ(solve(a * row + 2 * b + 1, stored({row, number(1)})), "a, 2*b + 1");
  EXPECT_EQ(solve(a * row + 2 * b + 3, stored({row, number(1)})), "a, 2*b + 3");
}

TEST_F(Delinearize, ConstantSizes) {
  producer({number(64), number(12), number(384)});
  const Expr a = axis("a", number(64)), b = axis("b", number(6)), c = axis("c", number(384));
  EXPECT_EQ(solve(4608 * a + 768 * b + c, stored({number(4608), number(384), number(1)})), "a, 2*b, c");
  EXPECT_EQ(solve(4608 * a + 768 * b + 384 + 383 - c, stored({number(4608), number(384), number(1)})),
            "a, 2*b + 1, -c + 383");
}

TEST_F(Delinearize, Diagonal) {
  producer({n, n});
  const Expr a = axis("a", n);
  EXPECT_EQ(solve(a * n + a, stored({n, number(1)})), "a, a");
  produced.clear();
  producer({number(384), number(384)});
  const Expr b = axis("b", number(384));
  EXPECT_EQ(solve(385 * b, stored({number(384), number(1)})), "b, b");
}

TEST_F(Delinearize, PaddedRows) {
  producer({n, m});
  const Expr a = axis("a", n), b = axis("b", m);
  EXPECT_EQ(solve(a * (m + 3) + b, stored({m + 3, number(1)})), "a, b");
}

TEST_F(Delinearize, BoundedIndex) {
  producer({n, m});
  const Expr j = axis("j", n), b = axis("b", m);  // a bounded symbol counts as an axis below its bound
  EXPECT_EQ(solve(j * m + b, stored({m, number(1)})), "j, b");
}

TEST_F(Delinearize, OutOfRangeIsRefused) {
  producer({n, m});
  const Expr a = axis("a", n + 1), b = axis("b", m);
  EXPECT_EQ(solve(a * m + b, stored({m, number(1)})), "none");
}

TEST_F(Delinearize, MergedProducerTakesAnyAddress) {
  producer({n * m});
  const Expr a = axis("a", n), b = axis("b", m);
  EXPECT_EQ(solve(a * m + b, stored({number(1)})), "a*m + b");
}

TEST_F(Delinearize, ReshapeNeedsDivision) {
  producer({n, m});
  const Expr x = axis("x", n * m);
  EXPECT_EQ(solve(x, stored({m, number(1)})), "none");
  EXPECT_EQ(solve(x, stored({m, number(1)}), true), "floordiv(x, m), floormod(x, m)");
}

}  // namespace
}  // namespace stax::loop
