// How much memory the process holds, from /proc.
#pragma once
#include <cstdint>
#include <string>

namespace minilm {

// Bytes resident at the highest so far.
int64_t peak_memory();

// Bytes resident now of the mappings of one file.
int64_t resident_of_file(const std::string& path);

}  // namespace minilm
