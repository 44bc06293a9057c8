#include "symbolic/samples.h"

#include <algorithm>

namespace stax::symbolic {

namespace {
using Value = std::optional<std::int64_t>;

Value narrow(Int128 v) {
  if (v < INT64_MIN || v > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(v);
}

Value sample_of(const Node* n, int k) { return n->sampled >> k & 1 ? Value(n->sample[k]) : std::nullopt; }

Value fold(const Node& n, int k) {
  bool product = n.op == Op::mul;
  std::int64_t r = product ? 1 : 0;
  for (const Node* o : n.operands()) {
    auto v = sample_of(o, k);
    if (!v) return std::nullopt;
    if (product ? __builtin_mul_overflow(r, *v, &r) : __builtin_add_overflow(r, *v, &r)) return std::nullopt;
  }
  return r;
}

Value value_at(const Node& n, int k) {
  if (n.op == Op::constant) return n.value;
  if (n.op == Op::add || n.op == Op::mul) return fold(n, k);
  auto x = sample_of(n.operand[0], k), y = sample_of(n.operand[1], k);
  if (!x || !y) return std::nullopt;
  if (n.op == Op::min) return std::min(*x, *y);
  if (n.op == Op::max) return std::max(*x, *y);
  if (*y == 0) return std::nullopt;
  Int128 a = *x, b = *y;
  switch (n.op) {
    case Op::floordiv:
      return narrow(floordiv_of(a, b));
    case Op::floormod:
      return narrow(floormod_of(a, b));
    case Op::ceildiv:
      return narrow(ceildiv_of(a, b));
    case Op::truncdiv:
      return narrow(a / b);
    default:
      return narrow(a % b);
  }
}

void set(Node& n, int k, Value v) {
  if (!v) return;
  n.sample[k] = *v;
  n.sampled = static_cast<std::uint8_t>(n.sampled | 1u << k);
}

// The value nearest to `wanted` that the declared infos allow.
Value allowed(const Node& symbol, Int128 wanted, int k) {
  const SymbolInfo& info = symbol.symbol->info;
  Int128 m = info.multiple_of, most = symbol.range.hi == kMaxInf ? Int128{INT64_MAX} : Int128{symbol.range.hi};
  if (info.below) {
    auto below = sample_of(info.below.node(), k);
    if (!below) return std::nullopt;
    most = std::min<Int128>(most, Int128{*below} - 1);
  }
  Int128 v = std::min(ceildiv_of(wanted, m) * m, floordiv_of(most, m) * m);
  if (symbol.range.lo != kMinInf && v < symbol.range.lo) return std::nullopt;
  return narrow(v);
}
}  // namespace

void derive_samples(Node& node) {
  for (int k = 0; k < kSamples; ++k) set(node, k, value_at(node, k));
}

void choose_samples(Node& symbol, std::size_t symbol_index) {
  const Range r = symbol.range;
  bool even = symbol_index % 2 == 0;
  auto spread = static_cast<std::int64_t>(symbol_index % 97);
  // All small, two where neighbours differ widely, all different.
  const std::int64_t offsets[] = {0, even ? 1000 : 1, even ? 1 : 1000, 37 + 13 * spread};
  for (int k = 0; k < kHintSample; ++k) {
    Int128 wanted = Int128{r.lo} + offsets[k];
    if (r.lo == kMinInf) wanted = std::min<Int128>(r.hi, k % 2 ? -offsets[k] : offsets[k]);
    set(symbol, k, allowed(symbol, wanted, k));
  }
  const auto& hint = symbol.symbol->info.hint;
  if (hint && allowed(symbol, *hint, kHintSample) == *hint) set(symbol, kHintSample, hint);
}

}  // namespace stax::symbolic
