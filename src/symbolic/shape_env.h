// The shape environment of one trace: size symbols with hints, facts, and the guards recorded while tracing.
#pragma once
#include <stax/base/error.h>

#include "symbolic/analysis.h"

namespace stax::symbolic {

struct Guard {
  Bool condition;
  std::string reason;  // "x.size(0) > 4", "equal sizes share a symbol", "broadcast of add"
  SourceLoc where;     // the user's line that needed it
};

struct SizeSymbol {
  Expr symbol;
  std::string origin;  // "x.size(0)"
  SourceLoc where;
};

class ShapeEnv {
 public:
  explicit ShapeEnv(Context& context) : context_(context) {}
  Context& context() const { return context_; }

  // A fresh symbol s0, s1, … . A hint is optional (unbacked sizes have none).
  Expr new_symbol(std::optional<std::int64_t> hint, Range range, std::string origin, SourceLoc where = {});
  // A symbol with a given name and facts (parsers, declared constraints).
  Expr add_symbol(std::string_view name, const SymbolInfo& info, std::string origin, SourceLoc where = {}) {
    symbols_.push_back({context_.symbol(name, info), std::move(origin), std::move(where)});
    return symbols_.back().symbol;
  }
  const std::vector<SizeSymbol>& symbols() const { return symbols_; }

  // Truth of a condition now. Proven: no guard. Else follows the hints, records the guard and assumes it from then on.
  // A condition without hints that is not proven throws UserError (data-dependent size).
  bool decide(Bool condition, std::string_view reason, SourceLoc where = {});
  // Value of `e` now; records e == value unless constant.
  std::int64_t specialize(Expr e, std::string_view reason, SourceLoc where = {});
  // What was decided stays proven, whatever is learned after it: inference may ask again.
  Truth prove(Bool condition) const;
  bool is_always(Bool condition) const { return prove(condition) == Truth::always; }
  Expr simplify(Expr e) const { return symbolic::simplify(e, facts_); }
  Range range_of(Expr e) const { return symbolic::range_of(e, &facts_); }

  const Facts& facts() const { return facts_; }
  const std::vector<Guard>& guards() const { return guards_; }
  void add_guard(Guard guard);  // records and assumes (for parsers and declared constraints)

 private:
  Context& context_;
  Facts facts_;
  std::vector<SizeSymbol> symbols_;
  std::vector<Guard> guards_;
  std::unordered_map<const Node*, bool> decided_;  // every condition that was decided or proven true as a guard
};

}  // namespace stax::symbolic
