// One oneDNN matmul primitive with what a call needs; a bounded cache of them. Includes dnnl: for onednn_*.cpp only.
#pragma once
#include <array>
#include <dnnl.hpp>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cpu/matmul_problem.h"

namespace stax::runtime::onednn {

dnnl::engine& engine();
dnnl::stream& stream();  // of the calling thread
// Held while the library creates a primitive: it keeps them in a cache of its own, whose locks the thread sanitizer
// does not see.
std::mutex& creation_mutex();

enum class BiasForm : std::uint8_t {
  none,
  row,
  full
};  // row: one value a column, the library's own bias; full: as a post-op
enum class WeightForm : std::uint8_t { plain, packed };

// Everything that selects a primitive, as numbers.
using PrimitiveKey = boost::container::static_vector<std::int64_t, 4 * kMaxRank + 24>;
struct KeyHash {
  std::size_t operator()(const PrimitiveKey& key) const noexcept;
};
PrimitiveKey key_of(const MatmulProblem& p, BiasForm bias, WeightForm weight, int threads);

// Memory objects and argument list of one running call; only addresses change from call to call.
struct CallSlot {
  dnnl::memory a, b, out, bias, residual, full_bias, scratchpad;
  std::vector<dnnl_exec_arg_t> args;
};

class Primitive {
 public:
  // Null when the library has nothing better than its reference loops.
  static std::shared_ptr<Primitive> make(const MatmulProblem& p, BiasForm bias, const dnnl::memory::desc* packed);
  // `packed` replaces b.
  void run(const MatmulProblem& p, dnnl::memory* packed);

 private:
  std::unique_ptr<CallSlot> take_slot();
  void return_slot(std::unique_ptr<CallSlot> slot);

  dnnl::matmul primitive_;
  dnnl::memory::desc a_, b_, out_, bias_, residual_;
  std::size_t scratch_bytes_ = 0;
  dnnl::memory::desc scratch_;
  BiasForm bias_form_ = BiasForm::none;
  int full_bias_arg_ = 0, residual_arg_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CallSlot>> slots_;
};

// The layout that the library likes for a constant [k, n] weight; serves every m. Equal to the plain layout where there
// is no better one.
dnnl::memory::desc packed_layout(Dtype dtype, std::int64_t k, std::int64_t n);
// Strides of a [k, n] matrix as a memory descriptor.
dnnl::memory::desc plain_layout(Dtype dtype, std::int64_t k, std::int64_t n, const MatmulMatrix& b);

}  // namespace stax::runtime::onednn
