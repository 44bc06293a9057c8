#include "symbolic/shape_env.h"

#include <fmt/format.h>

namespace stax::symbolic {

namespace {
std::string names_without_hint(Bool condition, const std::vector<SizeSymbol>& sizes) {
  std::string names;
  for (Expr s : symbols_of(condition)) {
    if (s.info().hint) continue;
    if (!names.empty()) names += ", ";
    names += s.name();
    for (const SizeSymbol& size : sizes) {
      if (size.symbol == s && !size.origin.empty()) names += " = " + size.origin;
    }
  }
  return names;
}

std::string because(std::string_view reason) { return reason.empty() ? "" : fmt::format(" ({})", reason); }
}  // namespace

Expr ShapeEnv::new_symbol(std::optional<std::int64_t> hint, Range range, std::string origin, SourceLoc where) {
  if (hint && !range.contains(*hint)) {
    auto end = [](std::int64_t v, std::int64_t open) { return v == open ? std::string("any") : std::to_string(v); };
    throw UserError(fmt::format("{} = {} is outside of its range [{}, {}]", origin, *hint, end(range.lo, kMinInf),
                                end(range.hi, kMaxInf)),
                    where, "Pass a size within the range, or widen the range");
  }
  std::size_t number = symbols_.size();
  std::string name = fmt::format("s{}", number);
  while (context_.find_symbol(name)) name = fmt::format("s{}", ++number);
  SymbolInfo info;
  info.range = range;
  info.hint = hint;
  Expr symbol = context_.symbol(name, info);
  symbols_.push_back({symbol, std::move(origin), std::move(where)});
  return symbol;
}

Truth ShapeEnv::prove(Bool condition) const {
  if (auto found = decided_.find(condition.node()); found != decided_.end())
    return found->second ? Truth::always : Truth::never;
  return symbolic::prove(condition, &facts_);
}

void ShapeEnv::add_guard(Guard guard) {
  Truth known = prove(guard.condition);
  if (known == Truth::always) return;
  if (known == Truth::never) {
    throw UserError(fmt::format("the condition {}{} contradicts what is known of the sizes", to_string(guard.condition),
                                because(guard.reason)),
                    guard.where, "Remove one of the contradicting conditions");
  }
  facts_.assume(guard.condition);
  decided_.emplace(guard.condition.node(), true);
  guards_.push_back(std::move(guard));
}

bool ShapeEnv::decide(Bool condition, std::string_view reason, SourceLoc where) {
  Truth known = prove(condition);
  if (known != Truth::unknown) return decided_.emplace(condition.node(), known == Truth::always).first->second;
  auto hint = hint_of(condition);
  if (!hint) {
    throw UserError(fmt::format("the condition {}{} depends on the data: {} has no value while tracing",
                                to_string(condition), because(reason), names_without_hint(condition, symbols_)),
                    where, "Declare a range that decides it, or compute it with tensor operations");
  }
  add_guard({*hint ? condition : !condition, std::string(reason), std::move(where)});
  decided_.emplace(condition.node(), *hint);
  return *hint;
}

std::int64_t ShapeEnv::specialize(Expr e, std::string_view reason, SourceLoc where) {
  Expr known = simplify(e);
  if (auto v = known.constant()) return *v;
  auto hint = hint_of(known);
  if (!hint) {
    throw UserError(fmt::format("the value of {}{} depends on the data: {} has no value while tracing", to_string(e),
                                because(reason), names_without_hint(eq(e, 0), symbols_)),
                    where, "Keep the size symbolic, or compute it with tensor operations");
  }
  add_guard({eq(e, *hint), std::string(reason), std::move(where)});
  return *hint;
}

}  // namespace stax::symbolic
