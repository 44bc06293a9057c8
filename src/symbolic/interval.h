// Interval arithmetic on Range: sound bounds, saturating at the open ends.
#pragma once
#include "symbolic/checked.h"
#include "symbolic/expr.h"

namespace stax::symbolic {

// Nearest sound bounds of an interval computed exactly.
Range clamp_range(Int128 lo, Int128 hi);
Range intersect(Range a, Range b);
Range hull(Range a, Range b);

Range add_ranges(Range a, Range b);
Range negate_range(Range a);
Range mul_ranges(Range a, Range b);
Range power_range(Range a, unsigned exponent);
// Divisors that are zero are left out; an all-zero divisor gives the full range.
Range floordiv_ranges(Range a, Range b);
Range ceildiv_ranges(Range a, Range b);
Range truncdiv_ranges(Range a, Range b);
Range floormod_ranges(Range a, Range b);
Range truncmod_ranges(Range a, Range b);
Range min_ranges(Range a, Range b);
Range max_ranges(Range a, Range b);
// The multiples of m inside `a`.
Range tighten_to_multiples(Range a, std::int64_t m);

}  // namespace stax::symbolic
