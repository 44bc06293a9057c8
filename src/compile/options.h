// What a compilation depends on beside the graph.
#pragma once
#include <cstdint>
#include <string>

namespace stax::compiler {

struct Settings {
  bool strict_numerics = false;  // half types round at every operator
  bool index_checks = true;
  bool fuse = true;
  std::string cache_dir;  // empty: the default directory
};

}  // namespace stax::compiler
