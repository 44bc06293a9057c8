#include "symbolic/interval.h"

#include <algorithm>

namespace stax::symbolic {

namespace {
// Open ends as numbers far outside 64 bits, small enough that sums of two stay exact.
constexpr Int128 kFar = Int128{1} << 124;

Int128 wide_lo(Range r) { return r.lo == kMinInf ? -kFar : Int128{r.lo}; }
Int128 wide_hi(Range r) { return r.hi == kMaxInf ? kFar : Int128{r.hi}; }
bool is_far(Int128 v) { return v >= kFar || v <= -kFar; }

Int128 mul_far(Int128 a, Int128 b) {
  if (a == 0 || b == 0) return 0;
  if (is_far(a) || is_far(b)) return (a < 0) == (b < 0) ? kFar : -kFar;
  return a * b;  // both within 64 bits
}

Int128 magnitude(Range r) {
  Int128 lo = wide_lo(r), hi = wide_hi(r);
  return std::max(lo < 0 ? -lo : lo, hi < 0 ? -hi : hi);
}

// b within [1, …].
Range floordiv_by_positive(Range a, Range b) {
  Int128 lo = wide_lo(a), hi = wide_hi(a), small = wide_lo(b), big = wide_hi(b);
  Int128 q_lo = lo >= 0 ? lo / big : (lo <= -kFar ? -kFar : floordiv_of(lo, small));
  Int128 q_hi = hi >= kFar ? kFar : (hi >= 0 ? hi / small : floordiv_of(hi, big));
  return clamp_range(q_lo, q_hi);
}

// Applies `f` to the positive part of b and, through (a, b) → (−a, −b), to the negative part.
template <class F>
Range by_sign_of_divisor(Range a, Range b, F f, bool negate_result) {
  bool positive = b.hi >= 1, negative = b.lo <= -1;
  Range p, n;
  if (positive) p = f(a, Range{std::max<std::int64_t>(b.lo, 1), b.hi});
  if (negative) {
    n = f(negate_range(a), negate_range(Range{b.lo, std::min<std::int64_t>(b.hi, -1)}));
    if (negate_result) n = negate_range(n);
  }
  if (positive && negative) return hull(p, n);
  return positive ? p : (negative ? n : Range{});
}
}  // namespace

Range clamp_range(Int128 lo, Int128 hi) {
  Range r;
  r.lo = static_cast<std::int64_t>(std::clamp<Int128>(lo, kMinInf, kMaxInf - 1));
  r.hi = static_cast<std::int64_t>(std::clamp<Int128>(hi, kMinInf + 1, kMaxInf));
  return r;
}

Range intersect(Range a, Range b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }
Range hull(Range a, Range b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
Range add_ranges(Range a, Range b) { return clamp_range(wide_lo(a) + wide_lo(b), wide_hi(a) + wide_hi(b)); }
Range negate_range(Range a) { return clamp_range(-wide_hi(a), -wide_lo(a)); }

Range mul_ranges(Range a, Range b) {
  Int128 al = wide_lo(a), ah = wide_hi(a), bl = wide_lo(b), bh = wide_hi(b);
  auto [lo, hi] = std::minmax({mul_far(al, bl), mul_far(al, bh), mul_far(ah, bl), mul_far(ah, bh)});
  return clamp_range(lo, hi);
}

Range power_range(Range a, unsigned exponent) {
  if (exponent % 2 == 0 && a.lo < 0) a = Range{a.hi < 0 ? negate_range(a).lo : 0, clamp_range(0, magnitude(a)).hi};
  Range r = a;
  for (unsigned i = 1; i < exponent; ++i) r = mul_ranges(r, a);
  return r;
}

Range floordiv_ranges(Range a, Range b) { return by_sign_of_divisor(a, b, floordiv_by_positive, false); }
Range ceildiv_ranges(Range a, Range b) { return negate_range(floordiv_ranges(negate_range(a), b)); }

Range truncdiv_ranges(Range a, Range b) {
  return by_sign_of_divisor(
      a, b,
      [&](Range n, Range d) {  // rounds down for n >= 0 and up for n <= 0
        Range down = floordiv_by_positive(n, d), up = negate_range(floordiv_by_positive(negate_range(n), d));
        if (n.lo >= 0) return down;
        if (n.hi <= 0) return up;
        return Range{up.lo, down.hi};
      },
      false);
}

Range floormod_ranges(Range a, Range b) {
  auto by_positive = [](Range n, Range d) {
    if (n.lo >= 0 && n.hi < d.lo) return n;
    Int128 hi = wide_hi(d) - 1;
    if (n.lo >= 0) hi = std::min(hi, wide_hi(n));
    return clamp_range(0, hi);
  };
  return by_sign_of_divisor(a, b, by_positive, true);
}

Range truncmod_ranges(Range a, Range b) {
  if (b.lo == 0 && b.hi == 0) return {};
  Int128 most = magnitude(b) - 1;  // |a % b| < |b|, ≤ |a|, with the sign of a
  Int128 lo = a.lo >= 0 ? 0 : std::max(-most, wide_lo(a)), hi = a.hi <= 0 ? 0 : std::min(most, wide_hi(a));
  return clamp_range(lo, hi);
}

Range min_ranges(Range a, Range b) { return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)}; }
Range max_ranges(Range a, Range b) { return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Range tighten_to_multiples(Range a, std::int64_t m) {
  if (m <= 1) return a;
  Int128 wide = m;
  if (a.lo != kMinInf) a.lo = clamp_range(ceildiv_of<Int128>(a.lo, wide) * wide, 0).lo;
  if (a.hi != kMaxInf) a.hi = clamp_range(0, floordiv_of<Int128>(a.hi, wide) * wide).hi;
  return a;
}

}  // namespace stax::symbolic
