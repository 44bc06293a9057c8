// z3 proves the rules, and the simplifier on random trees, for all integers.
#include <gtest/gtest.h>
#include <stax/base/error.h>
#include <z3++.h>

#include <set>

#include "rule_cases.h"

namespace stax::symbolic::test {

namespace {
// Translation; z3's div rounds so that the remainder is in [0, |b|).
class Translator {
 public:
  Translator(z3::context& z, std::vector<z3::expr> variables) : z_(z), variables_(std::move(variables)) {}

  z3::expr operator()(const Tree& t) const {
    switch (t.kind) {
      case Kind::constant:
        return z_.int_val(static_cast<int64_t>(t.value));
      case Kind::truth:
        return z_.bool_val(t.value != 0);
      case Kind::variable:
        return variables_[static_cast<std::size_t>(t.value)];
      case Kind::negate:
        return -(*this)(t.kids[0]);
      case Kind::logical_not:
        return !(*this)(t.kids[0]);
      default:
        return binary(t.kind, (*this)(t.kids[0]), (*this)(t.kids[1]));
    }
  }

 private:
  static z3::expr floor_quotient(const z3::expr& a, const z3::expr& b) { return z3::ite(b > 0, a / b, (-a) / (-b)); }
  static z3::expr trunc_quotient(const z3::expr& a, const z3::expr& b) { return z3::ite(a >= 0, a / b, -((-a) / b)); }
  static z3::expr binary(Kind kind, const z3::expr& a, const z3::expr& b) {
    switch (kind) {
      case Kind::add:
        return a + b;
      case Kind::subtract:
        return a - b;
      case Kind::multiply:
        return a * b;
      case Kind::floordiv:
        return floor_quotient(a, b);
      case Kind::floormod:
        return a - b * floor_quotient(a, b);
      case Kind::ceildiv:
        return -floor_quotient(-a, b);
      case Kind::truncdiv:
        return trunc_quotient(a, b);
      case Kind::truncmod:
        return a - b * trunc_quotient(a, b);
      case Kind::min:
        return z3::ite(a <= b, a, b);
      case Kind::max:
        return z3::ite(a <= b, b, a);
      case Kind::eq:
        return a == b;
      case Kind::ne:
        return a != b;
      case Kind::lt:
        return a < b;
      case Kind::le:
        return a <= b;
      case Kind::gt:
        return a > b;
      case Kind::ge:
        return a >= b;
      case Kind::logical_and:
        return a && b;
      default:
        return a || b;
    }
  }

  z3::context& z_;
  std::vector<z3::expr> variables_;
};

void collect_variables(const Tree& t, std::set<std::size_t>& out) {
  if (t.kind == Kind::variable) out.insert(static_cast<std::size_t>(t.value));
  for (const Tree& k : t.kids) collect_variables(k, out);
}

// Variables that must be constants for the problem to be linear: those in divisors, and the left factors of products.
void collect_fixed(const Tree& t, std::set<std::size_t>& out) {
  bool division = Kind::floordiv <= t.kind && t.kind <= Kind::truncmod;
  if (division) collect_variables(t.kids[1], out);
  std::set<std::size_t> right;
  if (t.kind == Kind::multiply) collect_variables(t.kids[1], right);
  if (!right.empty()) collect_variables(t.kids[0], out);
  for (const Tree& k : t.kids) collect_fixed(k, out);
}

std::string counterexample(const z3::solver& s) {
  std::ostringstream out;
  out << s.get_model();
  return out.str();
}
}  // namespace

TEST(Z3, RulesHoldForAllIntegers) {
  static constexpr std::int64_t kValues[] = {-3, -1, 1, 2, 6};
  z3::context z;
  int proofs = 0;
  for (const RuleCase& c : rule_cases()) {
    std::set<std::size_t> fixed_set;
    for (const Tree* t : {&c.from, &c.to, &c.when}) collect_fixed(*t, fixed_set);
    std::vector<std::size_t> fixed(fixed_set.begin(), fixed_set.end());
    std::vector<Range> choices(fixed.size(), Range{0, static_cast<std::int64_t>(std::size(kValues)) - 1});
    for_each_point(choices, [&](const Point& choice) {
      std::vector<z3::expr> variables;
      for (const std::string& name : c.names) variables.push_back(z.int_const(name.c_str()));
      for (std::size_t i = 0; i < fixed.size(); ++i) {
        variables[fixed[i]] = z.int_val(static_cast<int64_t>(kValues[choice[i]]));
      }
      Translator translate(z, variables);
      z3::expr claim = z3::implies(translate(c.when), translate(c.from) == translate(c.to)).simplify();
      ++proofs;
      if (claim.is_true()) return;
      z3::solver solver(z);
      solver.add(!claim);
      z3::check_result r = solver.check();
      EXPECT_EQ(r, z3::unsat) << c.title << "\n" << (r == z3::sat ? counterexample(solver) : "undecided");
    });
  }
  EXPECT_GT(proofs, 500);
}

TEST(Z3, SimplifiedTreesAreEqualForAllIntegers) {
  std::mt19937 random(7);
  Choose choose = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  z3::context z;
  z3::params limits(z);
  limits.set("timeout", 40u);
  int proved = 0, changed = 0;
  for (int i = 0; i < 600 / kSlower; ++i) {
    Tree tree = random_tree(choose, 3, 3);
    std::set<std::size_t> fixed;
    collect_fixed(tree, fixed);
    if (!fixed.empty()) continue;  // linear trees only: constant divisors and factors
    Context context;
    std::vector<Expr> symbols{context.symbol("x"), context.symbol("y", {.range = {0, kMaxInf}}),
                              context.symbol("z", {.range = {1, 9}})};
    Expr e;
    try {
      e = build(tree, context, symbols);
    } catch (const UserError&) {
      continue;
    }
    Names names{"x", "y", "z"};
    Tree simplified = parse_tree(to_string(e), names);
    std::vector<z3::expr> variables{z.int_const("x"), z.int_const("y"), z.int_const("z")};
    Translator translate(z, variables);
    z3::solver solver(z);
    solver.set(limits);
    solver.add(variables[1] >= 0 && variables[2] >= 1 && variables[2] <= 9);
    solver.add(translate(tree) != translate(simplified));
    z3::check_result r = solver.check();
    ASSERT_NE(r, z3::sat) << to_text(tree, names) << "\n" << to_string(e) << "\n" << counterexample(solver);
    proved += r == z3::unsat;
    changed += to_text(tree, names) != to_text(simplified, names);
  }
  EXPECT_GT(proved, 100 / kSlower);
  EXPECT_GT(changed, 60 / kSlower);
}

}  // namespace stax::symbolic::test
