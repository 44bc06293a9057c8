#include "runtime/cuda/open_library.h"

#include <dlfcn.h>

namespace stax::runtime {

void* open_library(const std::vector<std::string>& names, std::string& problem) {
  problem.clear();
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    const char* reason = dlerror();
    if (problem.empty()) problem = reason ? reason : "unknown reason";
  }
  return nullptr;
}

void* library_symbol(void* library, const char* name) { return dlsym(library, name); }

}  // namespace stax::runtime
