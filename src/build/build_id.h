// Identity of this build of Stax, for keys of the disk cache.
#pragma once
#include <string>

namespace stax::build {

// Hexadecimal; equal for equal binaries of the library, different after any change of its code.
const std::string& build_id();

}  // namespace stax::build
