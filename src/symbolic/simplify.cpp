#include <algorithm>

#include "symbolic/polynomial.h"
#include "symbolic/rules.h"

namespace stax::symbolic {

namespace {
constexpr int kRounds = 8;  // rebuilding settles after one or two

class Simplifier {
 public:
  explicit Simplifier(const Facts& facts) : facts_(facts), query_(&facts) {}
  Expr visit(Expr e);
  Bool visit(Bool b);

 private:
  Expr rebuild(Expr e);
  Expr rebuild_binary(Op op, Expr a, Expr b);
  Bool rebuild(Bool b);
  bool untouched(const Node* n) const { return !(n->symbols & facts_.touched()); }

  const Facts& facts_;
  Query query_;
  std::unordered_map<const Node*, Expr> memo_;
};

Expr Simplifier::visit(Expr e) {
  if (untouched(e.node())) return e;
  if (auto found = memo_.find(e.node()); found != memo_.end()) return found->second;
  Expr r = rebuild(e);
  Range range = query_.range(r);
  if (range.lo == range.hi) r = e.context().constant(range.lo);
  if (Expr value = facts_.value_of_atom(r)) r = value;
  memo_.emplace(e.node(), r);
  return r;
}

Expr Simplifier::rebuild(Expr e) {
  switch (e.op()) {
    case Op::symbol: {
      auto found = facts_.equalities().find(e);
      return found == facts_.equalities().end() ? e : visit(found->second);
    }
    case Op::add: {
      Expr r = e.context().constant(0);
      for (const Node* t : e.operands()) r = add_polynomials(r, visit(Expr(t)));
      return simplify_sum(r, query_);
    }
    case Op::mul: {
      Expr r = e.context().constant(1);
      for (const Node* f : e.operands()) r = multiply_polynomials(r, visit(Expr(f)));
      return simplify_sum(r, query_);
    }
    default:
      return rebuild_binary(e.op(), visit(e.operand(0)), visit(e.operand(1)));
  }
}

Expr Simplifier::rebuild_binary(Op op, Expr a, Expr b) {
  switch (op) {
    case Op::floordiv:
      return make_floordiv(a, b, query_);
    case Op::floormod:
      return make_floormod(a, b, query_);
    case Op::ceildiv:
      return make_ceildiv(a, b, query_);
    case Op::truncdiv:
      return make_truncdiv(a, b, query_);
    case Op::truncmod:
      return make_truncmod(a, b, query_);
    case Op::min:
      return make_min(a, b, query_);
    default:
      return make_max(a, b, query_);
  }
}

Bool Simplifier::visit(Bool b) {
  if (untouched(b.node()) && !facts_.contradictory()) return b;
  Bool r = rebuild(b);
  auto known = [&](Bool c) { return std::ranges::find(facts_.conditions(), c) != facts_.conditions().end(); };
  if (r.constant()) return r;
  if (known(r)) return r.context().boolean(true);
  if (known(!r)) return r.context().boolean(false);
  return r;
}

Bool Simplifier::rebuild(Bool b) {
  auto side = [&](std::size_t i) { return visit(Expr(b.operands()[i])); };
  switch (b.op()) {
    case Op::eq:
      return make_eq(side(0), side(1), query_);
    case Op::ne:
      return !make_eq(side(0), side(1), query_);
    case Op::lt:
      return make_lt(side(0), side(1), query_);
    case Op::le:
      return make_le(side(0), side(1), query_);
    case Op::logical_not:
      return !visit(Bool(b.operands()[0]));
    case Op::logical_and:
    case Op::logical_or: {
      bool all = b.op() == Op::logical_and;
      Bool r = b.context().boolean(all);
      for (const Node* p : b.operands()) r = all ? r && visit(Bool(p)) : r || visit(Bool(p));
      return r;
    }
    default:
      return b;
  }
}

template <class T>
T until_stable(T e, const Facts& facts) {
  for (int i = 0; i < kRounds; ++i) {
    T next = Simplifier(facts).visit(e);
    if (next == e) break;
    e = next;
  }
  return e;
}

Truth truth_of(Bool b) {
  auto v = b.constant();
  return !v ? Truth::unknown : (*v ? Truth::always : Truth::never);
}

// a || b || … holds when its last part follows from the others being false.
bool holds_by_cases(Bool disjunction, const Facts& facts) {
  Facts others = facts;
  auto parts = disjunction.operands();
  for (const Node* p : parts.first(parts.size() - 1)) others.assume(!Bool(p));
  return others.contradictory() || simplify(Bool(parts.back()), others).constant() == true;
}
}  // namespace

Expr simplify(Expr e, const Facts& facts) { return until_stable(e, facts); }
Bool simplify(Bool b, const Facts& facts) { return until_stable(b, facts); }

Truth prove(Bool condition, const Facts* facts) {
  const Facts none;
  const Facts& known = facts ? *facts : none;
  if (condition.constant()) return truth_of(condition);
  Truth unknown = Truth::unknown;
  auto decide = [&]() -> Truth {
    Bool b = simplify(condition, known);
    if (b.constant()) return truth_of(b);
    if (b.op() == Op::logical_or && holds_by_cases(b, known)) return Truth::always;
    if (b.op() == Op::logical_and && holds_by_cases(!b, known)) return Truth::never;
    return Truth::unknown;
  };
  try {
    return decide();
  } catch (const std::exception&) {
    return unknown;
  }
}

}  // namespace stax::symbolic
