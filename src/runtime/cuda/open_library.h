// A library of functions that is opened while the program runs.
#pragma once
#include <string>
#include <vector>

namespace stax::runtime {

// The first of the names that can be opened; it stays open for the process. Null when none can: `problem` then says
// what the loader said of the first.
void* open_library(const std::vector<std::string>& names, std::string& problem);
// Null when the library has no such symbol.
void* library_symbol(void* library, const char* name);

}  // namespace stax::runtime
