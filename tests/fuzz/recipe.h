// A random graph as data: what is drawn from the seed. The text of the graph follows from it by rules that adapt to the
// operands, so that every part may be dropped or changed and the rest still means something.
#pragma once
#include <stax/tensor/dtype.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stax::fuzz {

// splitmix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }
  std::int64_t between(std::int64_t lo, std::int64_t hi) { return lo + below(hi - lo + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class List>
  const auto& pick(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(std::size(list))))];
  }

 private:
  std::uint64_t state_;
};

enum class Fill : std::uint8_t { whole, small, special };  // whole numbers -4…4; (-2, 2); with NaN, ±inf, ±0, subnormal
enum class Layout : std::uint8_t { dense, permuted, stepped, reversed, expanded, padded, offset };
inline constexpr int kLayouts = 7;

// A size of an input: a position in Recipe::sizes, or a number that never changes.
struct Dim {
  int symbol = -1;
  std::int64_t number = 1;  // when symbol < 0
};

struct InputSpec {
  Dtype dtype = Dtype::f32;
  bool scalar = false;  // a host scalar
  std::vector<Dim> dims;
  Layout layout = Layout::dense;
  bool symbolic_strides = false;  // dynamic graphs: strides are symbols of their own where the layout is odd
  Fill fill = Fill::whole;
  std::uint64_t seed = 0;
};

struct Step {
  int kind = 0;             // position in step_kinds()
  int a = 0, b = 0, c = 0;  // operands: inputs first, then steps
  std::uint64_t p = 0;      // everything else
  bool bypassed = false;    // its value is operand a
};

struct Write {
  int input = 0, value = 0;
  bool also_output = false;
};

struct Recipe {
  std::uint64_t seed = 0;
  bool dynamic = false;
  bool strict = true;
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<std::int64_t>> other_sizes;  // where the same artifact may be called again
  std::vector<InputSpec> inputs;
  std::vector<Step> steps;
  std::vector<int> outputs;
  std::vector<Write> writes;
};

Recipe draw_recipe(std::uint64_t seed);

// Variants that are simpler, most drastic first; a failing recipe is replaced by the first that fails too.
std::vector<Recipe> simpler(const Recipe& r);

}  // namespace stax::fuzz
