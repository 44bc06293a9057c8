// What a compilation depends on beside the graph.
#pragma once
#include <cstdint>
#include <string>

namespace stax::compiler {

struct Settings {
  bool strict_numerics = false;  // half types round at every operator
  bool index_checks = true;
  bool fuse = true;
  bool promises = true;  // GPU kernels may count on aligned inputs and on sizes like those at hand, which guards check
  bool row_bounds = true;  // and on rows that stay as short as those at hand (with promises)
#ifdef NDEBUG
  bool verify = false;  // every pass's graph and the loops before they are printed
#else
  bool verify = true;
#endif
  std::string cache_dir;  // empty: the default directory
};

}  // namespace stax::compiler
