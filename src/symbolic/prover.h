// What the rules may ask about expressions, under the declared infos of the symbols and optional facts.
#pragma once
#include "symbolic/analysis.h"
#include "symbolic/node.h"

namespace stax::symbolic {

class Query {
 public:
  explicit Query(const Facts* facts) : facts_(facts) {}
  const Facts* facts() const { return facts_; }
  Range range(Expr e) const { return facts_ ? range_of(e, facts_) : e.node()->range; }
  std::int64_t multiple(Expr e) const { return facts_ ? multiple_of(e, facts_) : e.node()->multiple; }

  // Each is true only when it holds for every value that the symbols can take.
  bool nonneg(Expr e) const;
  bool positive(Expr e) const;
  bool nonzero(Expr e) const;
  bool less(Expr a, Expr b) const;                                           // a < b
  bool less_equal(Expr a, Expr b) const;                                     // a <= b
  bool in_divisor(Expr r, Expr d) const { return nonneg(r) && less(r, d); }  // 0 <= r < d

  // Which signs e takes at known allowed assignments; cheap, and enough to refute most claims.
  struct Signs {
    bool negative = false, zero = false, positive = false;
  };
  Signs sampled_signs(Expr e) const;

 private:
  // a < b (or a <= b) at some known allowed assignment.
  bool sampled_order(Expr a, Expr b, bool or_equal) const;
  std::uint8_t allowed_samples(const Node* a, const Node* b) const;

  const Facts* facts_;
};

// An expression between terms: floordiv(a, b), or ceildiv(a, b) with b > 0 as floordiv(a + b - 1, b).
struct Quotient {
  Expr numerator, divisor;
};
std::optional<Quotient> as_floordiv(Expr atom, const Query& q);

}  // namespace stax::symbolic
