#include "runtime/cpu/library_versions.h"

#include <dnnl.h>
#include <fmt/format.h>
#include <omp.h>

namespace stax::runtime {

std::string onednn_version() {
  const dnnl_version_t& v = *dnnl_version();
  const bool openmp = v.cpu_runtime == DNNL_RUNTIME_OMP;
  return fmt::format("{}.{}.{}, {}", v.major, v.minor, v.patch, openmp ? "OpenMP threads" : "threads of its own");
}

std::string openmp_version() {
  const int date = _OPENMP;
  const char* version = date >= 202011 ? "5.1" : date >= 201811 ? "5.0" : date >= 201511 ? "4.5" : "older than 4.5";
  return fmt::format("{} ({})", version, date);
}

}  // namespace stax::runtime
