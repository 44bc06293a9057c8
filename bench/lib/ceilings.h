// The machine's memory bandwidth, reached by plain loops over arrays larger than the caches, on warm pages.
#pragma once
#include "lib/race.h"

namespace bench {

enum class Traffic { read, copy, add };  // reading; one array in, one out; two in, one out: outputs past the caches

// Adds an entrant "ceiling" to the race.
void add_ceiling(Race& race, Traffic traffic);
// Bytes that one of its calls moves.
double ceiling_bytes(Traffic traffic);

}  // namespace bench
