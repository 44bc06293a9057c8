// The exact arguments that CPU kernels are compiled with.
#pragma once
#include <string>
#include <vector>

#include "runtime/cpu/isa.h"

namespace stax::build {

// All but the names of the files. `sanitize`: "", "none", "address", "thread" or "undefined".
std::vector<std::string> cpp_flags(const runtime::CpuTarget& target, const std::string& sanitize);

}  // namespace stax::build
