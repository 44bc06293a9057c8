// Versions of the libraries that the CPU runtime uses, for reports.
#pragma once
#include <string>

namespace stax::runtime {

std::string onednn_version();  // "2.6.3, OpenMP threads"
std::string openmp_version();  // "4.5 (201511)"

}  // namespace stax::runtime
