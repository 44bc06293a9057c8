#include <fmt/format.h>
#include <stax/base/error.h>

#include "symbolic/analysis.h"
#include "symbolic/node.h"

namespace stax::symbolic {

namespace {
// Rebuilds bottom-up through the public constructors; a symbol is replaced by `replace`.
class Rebuilder {
 public:
  Rebuilder(Context& target, std::function<Expr(Expr symbol)> replace)
      : target_(target), replace_(std::move(replace)) {}
  // Nodes that share no bit with `mask` and live in the target stay as they are.
  void keep_without(std::uint64_t mask) { mask_ = mask; }

  Expr visit(Expr e) {
    if (e.node()->context == &target_ && !(e.node()->symbols & mask_)) return e;
    if (auto found = memo_.find(e.node()); found != memo_.end()) return found->second;
    Expr r = rebuild(e);
    memo_.emplace(e.node(), r);
    return r;
  }

  Bool visit(Bool b) {
    auto side = [&](std::size_t i) { return visit(Expr(b.operands()[i])); };
    switch (b.op()) {
      case Op::boolean:
        return target_.boolean(*b.constant());
      case Op::eq:
        return eq(side(0), side(1));
      case Op::ne:
        return ne(side(0), side(1));
      case Op::lt:
        return lt(side(0), side(1));
      case Op::le:
        return le(side(0), side(1));
      case Op::logical_not:
        return !visit(Bool(b.operands()[0]));
      default:
        break;
    }
    bool all = b.op() == Op::logical_and;
    Bool r = target_.boolean(all);
    for (const Node* p : b.operands()) r = all ? r && visit(Bool(p)) : r || visit(Bool(p));
    return r;
  }

 private:
  Expr rebuild(Expr e) {
    switch (e.op()) {
      case Op::constant:
        return target_.constant(*e.constant());
      case Op::symbol:
        return replace_(e);
      case Op::add: {
        Expr r = target_.constant(0);
        for (const Node* t : e.operands()) r = r + visit(Expr(t));
        return r;
      }
      case Op::mul: {
        Expr r = target_.constant(1);
        for (const Node* f : e.operands()) r = r * visit(Expr(f));
        return r;
      }
      default:
        break;
    }
    Expr a = visit(e.operand(0)), b = visit(e.operand(1));
    switch (e.op()) {
      case Op::floordiv:
        return floordiv(a, b);
      case Op::floormod:
        return floormod(a, b);
      case Op::ceildiv:
        return ceildiv(a, b);
      case Op::truncdiv:
        return truncdiv(a, b);
      case Op::truncmod:
        return truncmod(a, b);
      case Op::min:
        return min(a, b);
      default:
        return max(a, b);
    }
  }

  Context& target_;
  std::function<Expr(Expr)> replace_;
  std::uint64_t mask_ = ~std::uint64_t{0};
  std::unordered_map<const Node*, Expr> memo_;
};

template <class T>
T substitute_in(T e, const SymbolMap& map) {
  if (map.empty()) return e;
  Context& target = map.begin()->second.context();
  Rebuilder rebuilder(target, [&](Expr symbol) {
    if (auto found = map.find(symbol); found != map.end()) return found->second;
    STAX_CHECK(&symbol.context() == &target,
               fmt::format("substitution into another context leaves symbol {} out", symbol.name()));
    return symbol;
  });
  std::uint64_t mask = 0;
  for (const auto& [symbol, value] : map) mask |= symbol.node()->symbols;
  rebuilder.keep_without(mask);
  return rebuilder.visit(e);
}

Expr transfer_symbol(Expr symbol, Context& to) {
  SymbolInfo info = symbol.info();
  if (info.below) info.below = transfer(info.below, to);
  return to.symbol(symbol.name(), info);
}

template <class T>
T transfer_to(T e, Context& to) {
  if (&e.context() == &to) return e;
  return Rebuilder(to, [&](Expr symbol) { return transfer_symbol(symbol, to); }).visit(e);
}
}  // namespace

Expr substitute(Expr e, const SymbolMap& map) { return substitute_in(e, map); }
Bool substitute(Bool b, const SymbolMap& map) { return substitute_in(b, map); }
Expr transfer(Expr e, Context& to) { return transfer_to(e, to); }
Bool transfer(Bool b, Context& to) { return transfer_to(b, to); }

}  // namespace stax::symbolic
