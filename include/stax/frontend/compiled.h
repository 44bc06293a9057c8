// The type-erased core of compiled functions and what can be asked about it.
#pragma once
#include <stax/frontend/options.h>
#include <stax/frontend/tensor.h>

#include <boost/container/small_vector.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stax {

struct CompiledStats {
  std::uint64_t calls = 0;          // of the compiled function
  std::uint64_t compiles = 0;       // artifacts made
  std::uint64_t kernels_built = 0;  // compiler runs
  std::uint64_t cache_hits = 0;     // kernels taken from the cache
  std::uint64_t guard_misses = 0;   // artifacts that were tried and did not fit
  std::uint64_t fallbacks = 0;      // calls that ran uncompiled
};

// How a kernel runs on a GPU.
struct GpuKernelInfo {
  std::string grid;                      // programs, over the sizes
  int threads = 0;                       // of a program
  int registers = 0;                     // of a thread
  std::int64_t shared_bytes = 0;         // of a program
  int spill_bytes = 0, stack_bytes = 0;  // of a thread
};
struct KernelInfo {
  std::string name, source, loops, schedule;
  std::optional<GpuKernelInfo> gpu;  // none on the CPU
};
struct ArtifactInfo {
  std::vector<std::string> guards;   // each with its reason and place
  std::vector<KernelInfo> kernels;   // in launch order
  std::vector<std::string> buffers;  // temporaries: name, dtype, bytes
  std::vector<std::string> library_calls;
  std::int64_t bytes = 0;                              // memory traffic of the kernels at the traced sizes
  std::string graph, plan;                             // texts
  std::string fusion;                                  // what was joined, what was refused and why
  std::vector<std::pair<std::string, double>> stages;  // compile stages and their seconds
};

namespace frontend {

// The leaves of a call's arguments.
struct Leaves {
  boost::container::small_vector<const Tensor*, 8> tensors;
  boost::container::small_vector<const Scalar*, 4> scalars;
  std::string key;                                 // constants and container sizes
  boost::container::small_vector<bool, 8> nested;  // by tensor: inside a container or struct
};

// The user's function on flat arguments: replaces them by stand-ins, runs it, keeps the structure of the result.
struct TracedCall {
  std::vector<Tensor> results;            // tensor leaves of the result
  std::shared_ptr<const void> prototype;  // the result with stand-ins, of the typed shell
};
using Runner = std::function<TracedCall(const std::vector<Tensor>& tensors, const std::vector<Scalar>& scalars)>;

class Core {
 public:
  Core(CompileOptions options, std::string name);
  ~Core();

  // Finds or makes the artifact and runs it. Returns the prototype that fits; `outputs` are the result's tensors. A
  // null prototype: the call must run uncompiled (the caller runs the function itself).
  std::shared_ptr<const void> call(const Leaves& leaves, const Runner& runner, std::vector<Tensor>& outputs);

  CompiledStats stats() const;
  std::vector<ArtifactInfo> artifacts() const;
  std::string explain() const;
  std::string why_recompiled() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frontend
}  // namespace stax
