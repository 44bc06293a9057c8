// Questions about expressions: ranges, divisibility, proofs, substitution, evaluation, linear parts.
#pragma once
#include "symbolic/expr.h"

namespace stax::symbolic {

enum class Truth : std::uint8_t { never, always, unknown };

// Facts known beside the declared symbol infos: narrower ranges, divisibility, conditions that hold.
class Facts {
 public:
  // Narrows ranges, divisibility (x % c == 0) and equalities where it can; what they do not fully express is kept as a
  // condition.
  void assume(Bool condition);
  void assume_range(Expr symbol, Range r);  // intersects
  Range range(Expr symbol) const;           // declared range ∩ assumed
  std::int64_t multiple_of(Expr symbol) const;
  const std::vector<Bool>& conditions() const { return conditions_; }
  const std::unordered_map<Expr, Expr>& equalities() const {
    return equalities_;
  }                                                      // symbol → what it equals; no key occurs in a value
  bool contradictory() const { return contradictory_; }  // no assignment satisfies them, as far as noticed
  bool empty() const;

  // For the prover: expressions that are >= 0 by a stored condition; what an atom (division, min, max) equals by one
  // (null: unknown); whether one says e != 0.
  const std::vector<Expr>& nonnegatives() const { return nonnegatives_; }
  Expr value_of_atom(Expr atom) const;
  bool known_nonzero(Expr e) const;
  bool hints_hold() const { return hints_hold_; }  // everything assumed is true at the symbols' hints
  // One bit for each symbol that some fact mentions, as in Node::symbols.
  std::uint64_t touched() const { return touched_; }
  std::unordered_map<const Node*, Range>& range_cache() const { return range_cache_; }

 private:
  void assume_simplified(Bool condition);
  void assume_nonneg(Expr d, Bool condition);
  void assume_equal(Expr a, Expr b, Bool condition);
  void assume_different(Expr d, Bool condition);
  bool assume_divisible(Expr dividend, std::int64_t divisor);
  bool narrow_linear(Expr d);
  void set_equal(Expr symbol, Expr value);
  void keep(Bool condition);
  void restate(Bool reason);
  void narrow(Expr symbol, Range r);
  void touch(const Node* node);

  std::unordered_map<Expr, Range> ranges_;
  std::unordered_map<Expr, std::int64_t> multiples_;
  std::unordered_map<Expr, Expr> equalities_;
  std::unordered_map<Expr, Expr> atom_values_;
  std::vector<Bool> conditions_;
  std::vector<Expr> nonnegatives_;
  std::uint64_t touched_ = 0;
  bool contradictory_ = false;
  bool hints_hold_ = true;
  mutable std::unordered_map<const Node*, Range> range_cache_;  // of composite nodes; dropped by each assumption
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
