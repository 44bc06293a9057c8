// The machine's memory bandwidth, reached by plain loops over arrays of the size of a row's, on warm pages: what a
// large last-level cache keeps from call to call counts for both.
#pragma once
#include "lib/race.h"

namespace bench {

enum class Traffic { read, copy, add };  // reading; one array in, one out; two in, one out: outputs past the caches

// Adds an entrant "ceiling" to the race that moves so many bytes, reads and writes together; rounded to whole pages, of
// which the result is the number of bytes.
double add_ceiling(Race& race, Traffic traffic, double bytes);

}  // namespace bench
