#include <algorithm>
#include <array>

#include "passes/passes.h"

namespace stax::passes {

std::span<const Pass> all_passes() {
  static constexpr std::array kPasses{
      Pass{"fuse-matmul-epilogues", fuse_matmul_epilogues, "bias, activation and residual join the matrix product"},
      Pass{"split-matmul-epilogues", split_matmul_epilogues, "what the library lacks leaves the matrix product"},
      Pass{"fold-batches", fold_batches, "batches of matrices at unequal distances become runs where the library asks"},
      Pass{"decompose", decompose, "composite operators become primitive ones"},
      Pass{"fold-constants", fold_constants, "operators on known scalars become literals"},
      Pass{"clean-up", clean_up, "operators that give their operand back disappear"},
      Pass{"cse", eliminate_common_nodes, "equal nodes become one"},
      Pass{"dce", eliminate_dead_code, "nodes that nothing needs disappear"},
  };
  return kPasses;
}

const Pass* find_pass(std::string_view name) {
  const auto passes = all_passes();
  auto it = std::find_if(passes.begin(), passes.end(), [&](const Pass& p) { return p.name == name; });
  return it == passes.end() ? nullptr : &*it;
}

}  // namespace stax::passes
