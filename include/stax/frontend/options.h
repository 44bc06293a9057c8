// Options of compile().
#pragma once
#include <cstdint>
#include <string>

namespace stax {

enum class Dynamic : std::uint8_t {
  no,         // every size is part of the artifact
  yes,        // sizes of tensor arguments are symbols; sizes 0 and 1 get artifacts of their own
  automatic,  // static first; a size that changed between calls becomes a symbol
};
// What to optimise for. Today all three give the same artifacts, and explain() says so: kernels are chosen by rules, so
// there is nothing to tune, and a warm call costs about a microsecond beside its kernels.
enum class Mode : std::uint8_t { balanced, max_autotune, reduce_overhead };
enum class Numerics : std::uint8_t {
  fused,   // half types are computed in f32 inside a kernel and rounded where a value is stored
  strict,  // rounded at every operator, as eager execution does
};

struct CompileOptions {
  Dynamic dynamic = Dynamic::no;  // STAX_DYNAMIC=no|yes|automatic
  bool fullgraph = false;      // STAX_FULLGRAPH: what cannot be traced or kept within the limits is an error instead of
                               // running uncompiled
  bool strict_native = false;  // STAX_STRICT_NATIVE: what cannot be compiled is an error instead of being interpreted
  Mode mode = Mode::balanced;  // STAX_MODE=balanced|max_autotune|reduce_overhead
  Numerics numerics = Numerics::fused;  // STAX_NUMERICS=fused|strict
  bool checks = true;                   // STAX_CHECKS: indices out of range are errors
  int max_artifacts = 8;                // STAX_MAX_ARTIFACTS: of one structure of arguments
  int max_compiles = 64;                // STAX_MAX_COMPILES: of the whole function
  double compile_budget = 0;            // STAX_COMPILE_BUDGET: seconds for all compiles of the function; 0: none
  std::string cache_dir = {};           // STAX_CACHE_DIR: of compiled kernels; empty: the user's default
  std::string device = {};  // STAX_DEVICE: required device of the arguments ("cpu", "cuda:0"); empty: theirs
};

// Fields that are at their default take the value of their environment variable. UserError for values that are not
// valid.
CompileOptions with_environment(CompileOptions options);

}  // namespace stax
