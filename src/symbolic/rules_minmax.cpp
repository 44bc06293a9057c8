#include "symbolic/order.h"
#include "symbolic/rules_div.h"

namespace stax::symbolic {

namespace {
template <Op kOp>
Expr make(Expr a, Expr b, const Query& q) {
  return kOp == Op::min ? make_min(a, b, q) : make_max(a, b, q);
}
template <Op kOp>
constexpr Op kDual = kOp == Op::min ? Op::max : Op::min;

template <Op kOp>
Expr ordered(Expr a, Expr b, const Query& q) {
  if (q.less_equal(a, b)) return kOp == Op::min ? a : b;
  if (q.less_equal(b, a)) return kOp == Op::min ? b : a;
  return {};
}

// The terms that a and b share; of two constants the shared one, and x + c against a constant gives up c.
template <Op kOp>
Expr pull_common_terms(Expr a, Expr b, const Query& q) {
  SmallVector<const Node*, 16> shared;
  for (const Node* t : varying_terms(a)) {
    if (find_term(b, t->monomial) == t) shared.push_back(t);
  }
  std::int64_t ca = constant_part(a), cb = constant_part(b), c = ca == cb ? ca : 0;
  if (varying_terms(a).size() == shared.size()) {
    c = cb;
  } else if (varying_terms(b).size() == shared.size()) {
    c = ca;
  }
  Expr common = sum_of_terms(a.context(), shared, c);
  if (common.is_constant(0)) return {};
  return sum(make<kOp>(difference(a, common, q), difference(b, common, q), q), common, q);
}

template <Op kOp>
Expr pull_factor(Expr a, Expr b, const Query& q) {
  std::int64_t g = gcd_of(gcd_of(content(a), content(b)), gcd_of(constant_part(a), constant_part(b)));
  if (g <= 1) return {};
  return times(make<kOp>(divide_coefficients(a, g), divide_coefficients(b, g), q), a.context().constant(g), q);
}

template <Op kOp>
Expr pull_sign(Expr a, Expr b, const Query& q) {
  bool neg_a = a.constant() || is_negative_form(a), neg_b = b.constant() || is_negative_form(b);
  if (!neg_a || !neg_b || (a.constant() && b.constant())) return {};
  return -make<kDual<kOp>>(-a, -b, q);
}

// By the stable order, a constant last.
template <Op kOp>
Expr sort_operands(Expr a, Expr b, const Query&) {
  bool swap = a.constant() || (!b.constant() && compare_nodes(b.node(), a.node()) < 0);
  return swap ? plain_node(kOp, b, a) : Expr();
}

constexpr Rule kMinRules[] = {
    {"min(a, b)", "a", "a <= b", ordered<Op::min>},
    {"min(a + c, b + c)", "min(a, b) + c", "", pull_common_terms<Op::min>},
    {"min(c*a, c*b)", "c*min(a, b)", "c >= 0", pull_factor<Op::min>},
    {"min(-a, -b)", "-max(a, b)", "", pull_sign<Op::min>},
    {"min(a, b)", "min(b, a)", "", sort_operands<Op::min>},
};
constexpr Rule kMaxRules[] = {
    {"max(a, b)", "b", "a <= b", ordered<Op::max>},
    {"max(a + c, b + c)", "max(a, b) + c", "", pull_common_terms<Op::max>},
    {"max(c*a, c*b)", "c*max(a, b)", "c >= 0", pull_factor<Op::max>},
    {"max(-a, -b)", "-min(a, b)", "", pull_sign<Op::max>},
    {"max(a, b)", "max(b, a)", "", sort_operands<Op::max>},
};
}  // namespace

std::span<const Rule> min_rules() { return kMinRules; }
std::span<const Rule> max_rules() { return kMaxRules; }

Expr make_min(Expr a, Expr b, const Query& q) {
  if (a == b) return a;
  auto x = a.constant(), y = b.constant();
  if (x && y) return a.context().constant(std::min(*x, *y));
  return apply_rules(kMinRules, Op::min, a, b, q);
}

Expr make_max(Expr a, Expr b, const Query& q) {
  if (a == b) return a;
  auto x = a.constant(), y = b.constant();
  if (x && y) return a.context().constant(std::max(*x, *y));
  return apply_rules(kMaxRules, Op::max, a, b, q);
}

}  // namespace stax::symbolic
