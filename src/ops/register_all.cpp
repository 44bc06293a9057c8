#include <mutex>

#include "ops/ops.h"

namespace stax::ops {

void register_all() {
  static std::once_flag once;
  std::call_once(once, [] {
    register_arithmetic();
    register_functions();
    register_comparisons();
    register_activations();
    register_casts();
    register_views();
    register_reshape();
    register_creation();
    register_joining();
    register_reductions();
    register_statistics();
    register_normalization();
    register_scans();
    register_matmul();
    register_indexing();
    register_writes();
  });
}

}  // namespace stax::ops
