#include "tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace stax::symbolic::test {

namespace {
struct Spelling {
  Kind kind;
  std::string_view text;
};
constexpr Spelling kFunctions[] = {
    {Kind::floordiv, "floordiv"}, {Kind::floormod, "floormod"}, {Kind::ceildiv, "ceildiv"},
    {Kind::truncdiv, "truncdiv"}, {Kind::truncmod, "truncmod"}, {Kind::min, "min"},
    {Kind::max, "max"},
};
constexpr Spelling kOperators[] = {
    {Kind::logical_or, "||"}, {Kind::logical_and, "&&"}, {Kind::eq, "=="},      {Kind::ne, "!="},
    {Kind::le, "<="},         {Kind::ge, ">="},          {Kind::lt, "<"},       {Kind::gt, ">"},
    {Kind::add, "+"},         {Kind::subtract, "-"},     {Kind::multiply, "*"},
};
int level_of(Kind k) {
  switch (k) {
    case Kind::logical_or:
      return 0;
    case Kind::logical_and:
      return 1;
    case Kind::add:
    case Kind::subtract:
      return 3;
    case Kind::multiply:
      return 4;
    default:
      return 2;
  }
}

class Reader {
 public:
  Reader(std::string_view text, Names& names) : text_(text), names_(names) {}
  Tree read(int level = 0) {
    if (level > 4) return primary();
    Tree left = read(level + 1);
    while (auto op = take_operator(level)) left = Tree{*op, 0, {left, read(level + 1)}};
    return left;
  }
  void end() {
    skip();
    if (!text_.empty()) throw std::invalid_argument("left over: " + std::string(text_));
  }

 private:
  void skip() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  std::optional<Kind> take_operator(int level) {
    for (const Spelling& s : kOperators) {
      if (level_of(s.kind) == level && take(s.text)) return s.kind;
    }
    return std::nullopt;
  }
  Tree primary() {
    if (take("-")) return Tree{Kind::negate, 0, {primary()}};
    if (take("!")) return Tree{Kind::logical_not, 0, {primary()}};
    if (take("(")) {
      Tree t = read();
      if (!take(")")) throw std::invalid_argument("expected )");
      return t;
    }
    std::size_t n = 0;
    while (n < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[n])) || text_[n] == '_')) ++n;
    std::string word(text_.substr(0, n));
    text_.remove_prefix(n);
    if (word.empty()) throw std::invalid_argument("expected a word at: " + std::string(text_));
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return Tree{Kind::constant, std::stoll(word), {}};
    if (word == "true" || word == "false") return Tree{Kind::truth, word == "true", {}};
    for (const Spelling& s : kFunctions) {
      if (s.text != word || !take("(")) continue;
      Tree a = read();
      take(",");
      Tree b = read();
      take(")");
      return Tree{s.kind, 0, {a, b}};
    }
    auto found = std::find(names_.begin(), names_.end(), word);
    if (found == names_.end()) found = names_.insert(names_.end(), word);
    return Tree{Kind::variable, found - names_.begin(), {}};
  }

  std::string_view text_;
  Names& names_;
};

Wide floor_quotient(Wide a, Wide b) {
  Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
}  // namespace

Tree parse_tree(std::string_view text, Names& names) {
  Reader r(text, names);
  Tree t = r.read();
  r.end();
  return t;
}

std::string to_text(const Tree& t, const Names& names) {
  switch (t.kind) {
    case Kind::constant:
      return t.value < 0 ? fmt::format("({})", t.value) : fmt::format("{}", t.value);
    case Kind::truth:
      return t.value ? "true" : "false";
    case Kind::variable:
      return names[static_cast<std::size_t>(t.value)];
    case Kind::negate:
      return fmt::format("-({})", to_text(t.kids[0], names));
    case Kind::logical_not:
      return fmt::format("!({})", to_text(t.kids[0], names));
    default:
      break;
  }
  std::string a = to_text(t.kids[0], names), b = to_text(t.kids[1], names);
  for (const Spelling& s : kFunctions) {
    if (s.kind == t.kind) return fmt::format("{}({}, {})", s.text, a, b);
  }
  for (const Spelling& s : kOperators) {
    if (s.kind == t.kind) return fmt::format("({} {} {})", a, s.text, b);
  }
  return "?";
}

std::optional<Wide> value_at(const Tree& t, const Point& p) {
  switch (t.kind) {
    case Kind::constant:
    case Kind::truth:
      return t.value;
    case Kind::variable:
      return p[static_cast<std::size_t>(t.value)];
    default:
      break;
  }
  auto left = value_at(t.kids[0], p);
  if (!left) return std::nullopt;
  Wide a = *left;
  if (t.kind == Kind::negate) return -a;
  if (t.kind == Kind::logical_not) return a == 0;
  auto right = value_at(t.kids[1], p);
  if (!right) return std::nullopt;
  Wide b = *right;
  if (Kind::floordiv <= t.kind && t.kind <= Kind::truncmod && b == 0) return std::nullopt;
  switch (t.kind) {
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
      return a / b;
    case Kind::truncmod:
      return a % b;
    case Kind::min:
      return std::min(a, b);
    case Kind::max:
      return std::max(a, b);
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
      return a != 0 && b != 0;
    default:
      return a != 0 || b != 0;
  }
}

Expr build(const Tree& t, Context& c, const std::vector<Expr>& variables) {
  if (t.kind == Kind::constant) return c.constant(t.value);
  if (t.kind == Kind::variable) return variables[static_cast<std::size_t>(t.value)];
  Expr a = build(t.kids[0], c, variables);
  if (t.kind == Kind::negate) return -a;
  Expr b = build(t.kids[1], c, variables);
  switch (t.kind) {
    case Kind::add:
      return a + b;
    case Kind::subtract:
      return a - b;
    case Kind::multiply:
      return a * b;
    case Kind::floordiv:
      return floordiv(a, b);
    case Kind::floormod:
      return floormod(a, b);
    case Kind::ceildiv:
      return ceildiv(a, b);
    case Kind::truncdiv:
      return truncdiv(a, b);
    case Kind::truncmod:
      return truncmod(a, b);
    case Kind::min:
      return min(a, b);
    case Kind::max:
      return max(a, b);
    default:
      throw std::invalid_argument("a condition is no integer");
  }
}

Bool build_bool(const Tree& t, Context& c, const std::vector<Expr>& variables) {
  auto integer = [&](std::size_t i) { return build(t.kids[i], c, variables); };
  auto truth = [&](std::size_t i) { return build_bool(t.kids[i], c, variables); };
  switch (t.kind) {
    case Kind::truth:
      return c.boolean(t.value != 0);
    case Kind::eq:
      return eq(integer(0), integer(1));
    case Kind::ne:
      return ne(integer(0), integer(1));
    case Kind::lt:
      return lt(integer(0), integer(1));
    case Kind::le:
      return le(integer(0), integer(1));
    case Kind::gt:
      return gt(integer(0), integer(1));
    case Kind::ge:
      return ge(integer(0), integer(1));
    case Kind::logical_and:
      return truth(0) && truth(1);
    case Kind::logical_or:
      return truth(0) || truth(1);
    case Kind::logical_not:
      return !truth(0);
    default:
      throw std::invalid_argument("an integer is no condition");
  }
}

Tree random_tree(const Choose& choose, std::size_t variables, int depth) {
  if (depth == 0 || choose(5) == 0) {
    if (choose(3) != 0)
      return Tree{Kind::variable, static_cast<std::int64_t>(choose(static_cast<std::uint32_t>(variables))), {}};
    return Tree{Kind::constant, static_cast<std::int64_t>(choose(19)) - 9, {}};
  }
  static constexpr Kind kKinds[] = {Kind::add,      Kind::add,      Kind::multiply, Kind::multiply, Kind::floordiv,
                                    Kind::floormod, Kind::subtract, Kind::floordiv, Kind::floormod, Kind::ceildiv,
                                    Kind::truncdiv, Kind::truncmod, Kind::min,      Kind::max,      Kind::negate};
  Kind kind = kKinds[choose(std::size(kKinds))];
  Tree t{kind, 0, {random_tree(choose, variables, depth - 1)}};
  if (kind == Kind::negate) return t;
  bool division = Kind::floordiv <= kind && kind <= Kind::truncmod;
  if (division && choose(2) == 0) {
    std::int64_t c = static_cast<std::int64_t>(choose(8)) + 1;
    t.kids.push_back(Tree{Kind::constant, choose(4) == 0 ? -c : c, {}});
  } else {
    t.kids.push_back(random_tree(choose, variables, depth - 1));
  }
  return t;
}

Tree random_condition(const Choose& choose, std::size_t variables, int depth) {
  if (depth > 0 && choose(3) == 0) {
    Kind kind = std::array{Kind::logical_and, Kind::logical_or, Kind::logical_not}[choose(3)];
    Tree t{kind, 0, {random_condition(choose, variables, depth - 1)}};
    if (kind != Kind::logical_not) t.kids.push_back(random_condition(choose, variables, depth - 1));
    return t;
  }
  static constexpr Kind kKinds[] = {Kind::eq, Kind::ne, Kind::lt, Kind::le, Kind::gt, Kind::ge};
  Kind kind = kKinds[choose(std::size(kKinds))];
  return Tree{kind, 0, {random_tree(choose, variables, 2), random_tree(choose, variables, 1)}};
}

}  // namespace stax::symbolic::test
