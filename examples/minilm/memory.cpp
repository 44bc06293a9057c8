#include "memory.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace minilm {
namespace {

constexpr int64_t kKilobyte = 1024;

// The number after `field` in a line such as "VmHWM:   1234 kB"; 0 for other lines.
int64_t kilobytes(const std::string& line, const std::string& field) {
  if (!line.starts_with(field)) return 0;
  int64_t value = 0;
  std::istringstream(line.substr(field.size())) >> value;
  return value;
}

}  // namespace

int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (const int64_t peak = kilobytes(line, "VmHWM:")) return peak * kKilobyte;
  return 0;
}

int64_t resident_of_file(const std::string& path) {
  std::error_code error;
  const std::string absolute = std::filesystem::canonical(path, error).string();
  if (error) return 0;
  std::ifstream maps("/proc/self/smaps");
  int64_t total = 0;
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    // A mapping begins with its addresses, which are lower-case hexadecimal; its fields begin with a capital letter.
    if (!line.empty() && (line[0] < 'A' || line[0] > 'Z')) inside = line.ends_with(" " + absolute);
    if (inside) total += kilobytes(line, "Rss:");
  }
  return total * kKilobyte;
}

}  // namespace minilm
