// Recursive descent over
//   or    = and { "||" and }          and  = not { "&&" not }          not  = "!" not | comparison
//   comparison = sum [ ("=="|"!="|"<"|"<="|">"|">=") sum ]            sum  = term { ("+"|"-") term }
//   term  = factor { "*" factor }     factor = "-" factor | integer | symbol | function "(" sum "," sum ")" | "(" or
//   ")"
#include <fmt/format.h>
#include <stax/base/error.h>

#include <variant>

#include "symbolic/analysis.h"
#include "symbolic/checked.h"

namespace stax::symbolic {

namespace {
using Value = std::variant<Expr, Bool>;
using Binary = Expr (*)(Expr, Expr);

Binary function_of(std::string_view name) {
  struct Entry {
    std::string_view name;
    Binary make;
  };
  static constexpr Entry kFunctions[] = {
      {"floordiv", floordiv}, {"floormod", floormod}, {"ceildiv", ceildiv}, {"truncdiv", truncdiv},
      {"truncmod", truncmod}, {"min", min},           {"max", max},
  };
  for (const Entry& e : kFunctions) {
    if (e.name == name) return e.make;
  }
  return nullptr;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool is_name_start(char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_' || c == '%'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c) || c == '.'; }

class Parser {
 public:
  Parser(std::string_view text, Context& context, const SymbolOf& symbol_of)
      : text_(text), context_(context), symbol_of_(symbol_of) {}

  Expr parse_sum() { return as_expr(sum(), 0); }
  Bool parse_or() {
    skip_space();
    std::size_t start = at_;
    return as_bool(disjunction(), start);
  }
  // End of the last token.
  std::size_t position() const {
    std::size_t end = at_;
    while (end > 0 && is_space(text_[end - 1])) --end;
    return end;
  }
  void expect_end() {
    skip_space();
    if (at_ != text_.size()) fail(fmt::format("unexpected '{}' after the expression", text_.substr(at_, 12)), at_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem, std::size_t at) const {
    std::size_t line = 1, column = 1;
    for (std::size_t i = 0; i < at && i < text_.size(); ++i) {
      column = text_[i] == '\n' ? 1 : column + 1;
      line += text_[i] == '\n';
    }
    throw UserError(fmt::format("line {}, column {}: {}", line, column, problem), {},
                    "Write integer expressions like s0*s1 + floordiv(i0, 4) and conditions like s0 < 2*s1");
  }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool take(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  Expr as_expr(const Value& v, std::size_t at) const {
    if (auto* e = std::get_if<Expr>(&v)) return *e;
    fail("expected an integer, found a condition", at);
  }
  Bool as_bool(const Value& v, std::size_t at) const {
    if (auto* b = std::get_if<Bool>(&v)) return *b;
    fail("expected a condition, found an integer", at);
  }

  // Runs an arithmetic step and adds the place to its error.
  template <class F>
  auto located(std::size_t at, F step) {
    try {
      return step();
    } catch (const UserError& e) {
      fail(e.problem(), at);
    }
  }

  Value disjunction() {
    skip_space();
    std::size_t at = at_;
    Value v = conjunction();
    while (take("||")) v = as_bool(v, at) || as_bool(conjunction(), at_);
    return v;
  }
  Value conjunction() {
    skip_space();
    std::size_t at = at_;
    Value v = negation();
    while (take("&&")) v = as_bool(v, at) && as_bool(negation(), at_);
    return v;
  }
  Value negation() {
    skip_space();
    std::size_t at = at_;
    if (at_ < text_.size() && text_[at_] == '!' && text_.substr(at_, 2) != "!=") {
      ++at_;
      return !as_bool(negation(), at);
    }
    return comparison();
  }
  Value comparison() {
    skip_space();
    std::size_t at = at_;
    Value left = sum();
    using Compare = Bool (*)(Expr, Expr);
    static constexpr std::pair<std::string_view, Compare> kComparisons[] = {{"==", eq}, {"!=", ne}, {"<=", le},
                                                                            {">=", ge}, {"<", lt},  {">", gt}};
    for (auto [token, compare] : kComparisons) {
      if (!take(token)) continue;
      std::size_t right_at = at_;
      Expr a = as_expr(left, at), b = as_expr(sum(), right_at);
      return located(at, [&] { return compare(a, b); });
    }
    return left;
  }
  Value sum() {
    skip_space();
    std::size_t at = at_;
    Value v = term(false);
    for (;;) {
      bool minus = false;
      if (take("-")) {
        minus = true;
      } else if (!take("+")) {
        return v;
      }
      Expr a = as_expr(v, at), b = as_expr(term(minus), at_);
      v = located(at, [&] { return a + b; });
    }
  }
  // `negate`: the term is subtracted; the sign goes into the first factor so that -2^63 can be read.
  Value term(bool negate) {
    skip_space();
    std::size_t at = at_;
    Value v = factor(negate);
    while (take("*")) {
      Expr a = as_expr(v, at), b = as_expr(factor(false), at_);
      v = located(at, [&] { return a * b; });
    }
    return v;
  }
  Value factor(bool negate) {
    skip_space();
    std::size_t at = at_;
    if (take("-")) return factor(!negate);
    if (at_ == text_.size()) fail("expected an expression, found the end of the text", at);
    char c = text_[at_];
    if (is_digit(c)) return integer(negate);
    Value v;
    if (take("(")) {
      v = disjunction();
      if (!take(")")) fail("expected ')'", at_);
    } else if (is_name_start(c)) {
      v = named();
    } else {
      fail(fmt::format("expected an expression, found '{}'", c), at);
    }
    if (!negate) return v;
    return located(at, [&] { return -as_expr(v, at); });
  }
  Value integer(bool negate) {
    std::size_t at = at_;
    Int128 v = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      v = v * 10 + (text_[at_] - '0');
      if (v > (Int128{1} << 63)) fail("the integer leaves 64 bits", at);
    }
    if (negate) v = -v;
    if (v > INT64_MAX) fail("the integer leaves 64 bits", at);
    return context_.constant(static_cast<std::int64_t>(v));
  }
  Value named() {
    std::size_t at = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    std::string_view name = text_.substr(at, at_ - at);
    if (name == "true" || name == "false") return context_.boolean(name == "true");
    Binary make = function_of(name);
    if (make && take("(")) {
      std::size_t first = at_;
      Expr a = as_expr(sum(), first);
      if (!take(",")) fail(fmt::format("expected ',' between the arguments of {}", name), at_);
      std::size_t second = at_;
      Expr b = as_expr(sum(), second);
      if (!take(")")) fail(fmt::format("expected ')' after the arguments of {}", name), at_);
      return located(at, [&] { return make(a, b); });
    }
    Expr symbol = symbol_of_(name);
    if (!symbol) fail(fmt::format("unknown symbol {}", name), at);
    return symbol;
  }

  std::string_view text_;
  Context& context_;
  const SymbolOf& symbol_of_;
  std::size_t at_ = 0;
};
}  // namespace

Expr parse_expr(std::string_view text, Context& context, const SymbolOf& symbol_of) {
  Parser p(text, context, symbol_of);
  Expr e = p.parse_sum();
  p.expect_end();
  return e;
}

Bool parse_bool(std::string_view text, Context& context, const SymbolOf& symbol_of) {
  Parser p(text, context, symbol_of);
  Bool b = p.parse_or();
  p.expect_end();
  return b;
}

Expr parse_expr_prefix(std::string_view& text, Context& context, const SymbolOf& symbol_of) {
  Parser p(text, context, symbol_of);
  Expr e = p.parse_sum();
  text.remove_prefix(p.position());
  return e;
}

Bool parse_bool_prefix(std::string_view& text, Context& context, const SymbolOf& symbol_of) {
  Parser p(text, context, symbol_of);
  Bool b = p.parse_or();
  text.remove_prefix(p.position());
  return b;
}

}  // namespace stax::symbolic
