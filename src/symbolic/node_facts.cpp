#include "symbolic/node_facts.h"

#include <algorithm>

namespace stax::symbolic {

namespace {
Range range_of_sum(const Node& node, const void* self, RangeOf range_of) {
  Range r{0, 0};
  for (const Node* term : node.operands()) r = add_ranges(r, range_of(self, term));
  return r;
}

// Equal factors are adjacent: x·x is a power, not a product of independent values.
Range range_of_product(const Node& node, const void* self, RangeOf range_of) {
  Range r{node.value, node.value};
  auto factors = node.factors();
  for (std::size_t i = 0, j; i < factors.size(); i = j) {
    for (j = i + 1; j < factors.size() && factors[j] == factors[i];) ++j;
    r = mul_ranges(r, power_range(range_of(self, factors[i]), static_cast<unsigned>(j - i)));
  }
  return r;
}

Range range_of_floormod(const Node& node, Range a, Range b, const void* self, MultipleOf multiple_of) {
  Range r = floormod_ranges(a, b);
  // a mod b is a multiple of gcd(a's multiple, b's multiple).
  std::int64_t g = gcd_of(multiple_of(self, node.operand[0]), multiple_of(self, node.operand[1]));
  return g > 1 ? tighten_to_multiples(r, g) : r;
}

std::int64_t multiple_of_product(const Node& node, const void* self, MultipleOf multiple_of) {
  Int128 m = node.value < 0 ? -Int128{node.value} : Int128{node.value};
  if (m > INT64_MAX) m = Int128{1} << 62;
  for (const Node* factor : node.factors()) {
    Int128 next = m * multiple_of(self, factor);
    if (next > INT64_MAX) continue;  // leaving a factor out stays sound
    m = next;
  }
  return static_cast<std::int64_t>(m);
}

std::int64_t multiple_of_quotient(const Node& node, const void* self, MultipleOf multiple_of) {
  std::int64_t a = multiple_of(self, node.operand[0]);
  if (!node.operand[1]->is_constant() || node.operand[1]->value <= 0) return 1;
  std::int64_t c = node.operand[1]->value;
  return a % c == 0 ? a / c : 1;
}
}  // namespace

Range derive_range(const Node& node, const void* self, RangeOf range_of, MultipleOf multiple_of) {
  switch (node.op) {
    case Op::constant: {
      // The extreme values double as open ends.
      return clamp_range(node.value, node.value);
    }
    case Op::add:
      return range_of_sum(node, self, range_of);
    case Op::mul:
      return range_of_product(node, self, range_of);
    default:
      break;
  }
  Range a = range_of(self, node.operand[0]), b = range_of(self, node.operand[1]);
  switch (node.op) {
    case Op::floordiv:
      return floordiv_ranges(a, b);
    case Op::ceildiv:
      return ceildiv_ranges(a, b);
    case Op::truncdiv:
      return truncdiv_ranges(a, b);
    case Op::floormod:
      return range_of_floormod(node, a, b, self, multiple_of);
    case Op::truncmod:
      return truncmod_ranges(a, b);
    case Op::min:
      return min_ranges(a, b);
    case Op::max:
      return max_ranges(a, b);
    default:
      return {};
  }
}

std::int64_t derive_multiple(const Node& node, const void* self, MultipleOf multiple_of) {
  switch (node.op) {
    case Op::constant:
      return gcd_of(node.value, 0);
    case Op::add: {
      std::int64_t m = 0;
      for (const Node* term : node.operands()) m = gcd_of(m, multiple_of(self, term));
      return m;
    }
    case Op::mul:
      return multiple_of_product(node, self, multiple_of);
    case Op::floordiv:
    case Op::ceildiv:
    case Op::truncdiv:
      return multiple_of_quotient(node, self, multiple_of);
    case Op::floormod:
    case Op::truncmod:
    case Op::min:
    case Op::max:
      return gcd_of(multiple_of(self, node.operand[0]), multiple_of(self, node.operand[1]));
    default:
      return 1;
  }
}

Range declared_range(const Node& node) {
  return derive_range(
      node, nullptr, [](const void*, const Node* n) { return n->range; },
      [](const void*, const Node* n) { return n->multiple; });
}

std::int64_t declared_multiple(const Node& node) {
  return derive_multiple(node, nullptr, [](const void*, const Node* n) { return n->multiple; });
}

}  // namespace stax::symbolic
