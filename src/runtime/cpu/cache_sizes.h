#pragma once
#include <cstdint>
#include <string>

namespace stax::runtime {

// Bytes of the data caches that one core can fill; 0: unknown.
struct CacheSizes {
  std::int64_t l1 = 0, l2 = 0, last = 0;
};

// Of the first processor. Linux's own table comes first: on processors with several last-level caches, and in virtual
// machines, the C library reports the whole socket's.
CacheSizes cache_sizes();

// The same from a folder like /sys/devices/system/cpu/cpu0/cache; what it lacks stays 0.
CacheSizes cache_sizes_in(const std::string& folder);

}  // namespace stax::runtime
