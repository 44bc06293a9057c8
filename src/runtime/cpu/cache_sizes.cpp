#include "runtime/cpu/cache_sizes.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace stax::runtime {

namespace {

std::string word_in(const std::string& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

// "48K", "32M"
std::int64_t bytes_of(const std::string& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return 0;
  std::size_t end = 0;
  const std::int64_t number = std::stoll(text.substr(0, 15), &end);
  const char unit = end < text.size() ? text[end] : ' ';
  return number << (unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0);
}

std::int64_t from_library(int name) { return std::max<std::int64_t>(sysconf(name), 0); }

}  // namespace

CacheSizes cache_sizes_in(const std::string& folder) {
  CacheSizes sizes;
  int last_level = 1;
  for (int i = 0; i < 8; ++i) {
    const std::string index = folder + "/index" + std::to_string(i) + "/", type = word_in(index + "type");
    if (type != "Data" && type != "Unified") continue;
    const std::int64_t level = bytes_of(word_in(index + "level")), bytes = bytes_of(word_in(index + "size"));
    if (level == 1) sizes.l1 = bytes;
    if (level == 2) sizes.l2 = bytes;
    if (level >= last_level && bytes > 0) sizes.last = bytes, last_level = static_cast<int>(level);
  }
  return sizes;
}

CacheSizes cache_sizes() {
  static const CacheSizes known = [] {
    CacheSizes sizes = cache_sizes_in("/sys/devices/system/cpu/cpu0/cache");
    if (sizes.l1 == 0) sizes.l1 = from_library(_SC_LEVEL1_DCACHE_SIZE);
    if (sizes.l2 == 0) sizes.l2 = from_library(_SC_LEVEL2_CACHE_SIZE);
    if (sizes.last == 0) sizes.last = from_library(_SC_LEVEL3_CACHE_SIZE);
    return sizes;
  }();
  return known;
}

}  // namespace stax::runtime
