// Questions about expressions: ranges, divisibility, proofs, substitution, evaluation, linear parts.
#pragma once
#include "symbolic/expr.h"

namespace stax::symbolic {

enum class Truth : std::uint8_t { never, always, unknown };

// Facts known beside the declared symbol infos: narrower ranges, divisibility, conditions that hold.
class Facts {
 public:
  void assume(Bool condition);  // narrows ranges, divisibility (x % c == 0) and equalities where it can; else keeps the
                                // condition
  void assume_range(Expr symbol, Range r);  // intersects
  Range range(Expr symbol) const;           // declared range ∩ assumed
  std::int64_t multiple_of(Expr symbol) const;
  const std::vector<Bool>& conditions() const { return conditions_; }
  const std::unordered_map<Expr, Expr>& equalities() const { return equalities_; }  // symbol → what it equals

 private:
  std::unordered_map<Expr, Range> ranges_;
  std::unordered_map<Expr, std::int64_t> multiples_;
  std::unordered_map<Expr, Expr> equalities_;
  std::vector<Bool> conditions_;
};

// Sound interval of every value that `e` can take (saturating at the open ends).
Range range_of(Expr e, const Facts* facts = nullptr);
// Largest known m >= 1 with e ≡ 0 (mod m); 0 for the constant 0.
std::int64_t multiple_of(Expr e, const Facts* facts = nullptr);
// always / never only when it holds for every value of the symbols that the facts allow.
Truth prove(Bool condition, const Facts* facts = nullptr);
inline bool always(Bool condition, const Facts* facts = nullptr) { return prove(condition, facts) == Truth::always; }

// Rebuilds with facts: e.g. floormod(x, 4) → 0 when x is a multiple of 4, min(x, y) → x when x <= y, known equalities.
Expr simplify(Expr e, const Facts& facts);
Bool simplify(Bool b, const Facts& facts);

using SymbolMap = std::unordered_map<Expr, Expr>;
Expr substitute(
    Expr e,
    const SymbolMap& map);  // simultaneous; result may live in another context than `e` when the map covers all symbols
Bool substitute(Bool b, const SymbolMap& map);
// Copies into another context, symbols by name with their infos.
Expr transfer(Expr e, Context& to);
Bool transfer(Bool b, Context& to);

// Value under an assignment; nullopt when a symbol has none, UserError on division by zero or overflow.
using Lookup = std::function<std::optional<std::int64_t>(Expr symbol)>;
std::optional<std::int64_t> evaluate(Expr e, const Lookup& value_of);
std::optional<bool> evaluate(Bool b, const Lookup& value_of);
std::optional<std::int64_t> hint_of(Expr e);  // evaluate at the symbols' hints
std::optional<bool> hint_of(Bool b);

std::vector<Expr> symbols_of(Expr e);  // each once, in order of first appearance
std::vector<Expr> symbols_of(Bool b);
bool depends_on(Expr e, Expr symbol);

// e = coefficient · symbol + rest where neither mentions symbol; nullopt when e is not linear in it.
struct Linear {
  Expr coefficient, rest;
};
std::optional<Linear> linear_in(Expr e, Expr symbol);

// The terms of the canonical sum (one element when e is not a sum).
std::vector<Expr> terms_of(Expr e);

// Text back to expressions, as printed by to_string; unknown symbols are made through `symbol_of`.
// Throws UserError with line and column relative to `text`.
using SymbolOf = std::function<Expr(std::string_view name)>;
Expr parse_expr(std::string_view text, Context& context, const SymbolOf& symbol_of);
Bool parse_bool(std::string_view text, Context& context, const SymbolOf& symbol_of);
// Parses the longest expression at the front of `text` and removes it; for parsers of larger forms.
Expr parse_expr_prefix(std::string_view& text, Context& context, const SymbolOf& symbol_of);
Bool parse_bool_prefix(std::string_view& text, Context& context, const SymbolOf& symbol_of);

}  // namespace stax::symbolic
