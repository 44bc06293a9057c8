// Plain expression trees, the reference of these tests: their own parser, 128-bit evaluation, z3 translation and random
// generation share nothing with the code under test.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "symbolic/analysis.h"

namespace stax::symbolic::test {

// Sanitizers slow everything down: they get a part of the random cases.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kSlower = 10;
#else
inline constexpr int kSlower = 1;
#endif

enum class Kind : std::uint8_t {
  constant,
  variable,
  negate,
  add,
  subtract,
  multiply,
  floordiv,
  floormod,
  ceildiv,
  truncdiv,
  truncmod,
  min,
  max,
  truth,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  logical_not,
};

struct Tree {
  Kind kind = Kind::constant;
  std::int64_t value = 0;  // of a constant or truth; index of a variable
  std::vector<Tree> kids;
};

using Names = std::vector<std::string>;
using Point = std::vector<std::int64_t>;  // value of each variable
__extension__ using Wide = __int128;

// Reads a condition or an integer expression; new variables are added to `names`.
Tree parse_tree(std::string_view text, Names& names);
std::string to_text(const Tree& tree, const Names& names);

// Value at a point (truth: 0 or 1); nullopt where a division by zero is evaluated.
std::optional<Wide> value_at(const Tree& tree, const Point& point);

// Through the constructors under test.
Expr build(const Tree& tree, Context& context, const std::vector<Expr>& variables);
Bool build_bool(const Tree& tree, Context& context, const std::vector<Expr>& variables);

// A stream of choices: from a random generator, or from bytes (so that rapidcheck shrinks the bytes).
using Choose = std::function<std::uint32_t(std::uint32_t below)>;
Tree random_tree(const Choose& choose, std::size_t variables, int depth);
Tree random_condition(const Choose& choose, std::size_t variables, int depth);

// Calls f(point) for every point of the box; ranges are inclusive.
template <class F>
void for_each_point(const std::vector<Range>& box, F f) {
  Point p;
  for (Range r : box) {
    if (r.lo > r.hi) return;
    p.push_back(r.lo);
  }
  for (;;) {
    f(p);
    std::size_t i = 0;
    for (; i < p.size(); ++i) {
      if (++p[i] <= box[i].hi) break;
      p[i] = box[i].lo;
    }
    if (i == p.size()) return;
  }
}

}  // namespace stax::symbolic::test
