#include "runtime/cpu/few_rows.h"

#if defined(__x86_64__)

#include <algorithm>
#include <utility>

#include "runtime/cpu/avx512_block.h"
#include "runtime/cpu/isa.h"
#include "runtime/cpu/openmp.h"

namespace stax::runtime::onednn {

namespace {

constexpr std::int64_t kMostRows = 2 * avx512::kBlockRows;
constexpr std::int64_t kPanel = 64;                      // columns of a panel; its rows follow each other in memory
constexpr std::int64_t kSerial = std::int64_t{1} << 17;  // multiplications that are not worth a second thread

// Where the panels of a weight are, and how they are shared.
struct Panels {
  const float* data = nullptr;
  std::int64_t count = 0, bytes = 0;  // bytes of one
  std::int64_t begin(int thread, int threads) const { return count * thread / threads; }
  const float* at(std::int64_t panel) const { return data + panel * bytes / static_cast<std::int64_t>(sizeof(float)); }
};

Panels panels_at(const void* data, std::int64_t k, std::int64_t n) {
  return {static_cast<const float*>(data), (n + kPanel - 1) / kPanel,
          (k + 15) / 16 * 16 * kPanel * static_cast<std::int64_t>(sizeof(float))};
}

void run_panel(const MatmulProblem& p, const Panels& panels, std::int64_t panel, const float* ahead) {
  const auto* a = static_cast<const float*>(p.a.data);
  const std::int64_t halves = p.m > avx512::kBlockRows ? 2 : 1;
  for (std::int64_t column = panel * kPanel, part = 0; part < kPanel && column + part < p.n;
       part += avx512::kBlockColumns) {
    const std::int64_t at = column + part, left = p.n - at;
    for (std::int64_t half = 0; half < halves; ++half) {
      const std::int64_t row = half * (p.m / halves), rows = half + 1 == halves ? p.m - row : p.m / halves;
      avx512::Epilogue e{};
      e.bias = p.bias.data ? static_cast<const float*>(p.bias.data) + at : nullptr;
      e.residual = p.residual.data ? static_cast<const float*>(p.residual.data) + row * p.residual.rows + at : nullptr;
      e.residual_step = p.residual.rows;
      e.out = static_cast<float*>(p.out.data) + row * p.out.rows + at;
      e.out_step = p.out.rows;
      e.scale = static_cast<float>(p.scale);
      e.gelu = p.activation == Activation::gelu_erf;
      e.active[0] = avx512::first_lanes(left);
      e.active[1] = avx512::first_lanes(left - 16);
      avx512::kBlocks<kPanel>[rows - 1](a + row * p.a.rows, p.a.rows, panels.at(panel) + part, p.k, e, ahead + part,
                                        static_cast<int>(half), halves == 2 ? 1 : 2);
    }
  }
}

bool fits(const MatmulProblem& p, const PackedWeight& w) {
  if (p.dtype != Dtype::f32 || !p.batch.empty() || p.m < 1 || p.m > kMostRows || p.k < 1) return false;
  if (p.activation != Activation::none && p.activation != Activation::gelu_erf) return false;
  if (p.a.columns != 1 || p.out.columns != 1 || (p.residual.data && p.residual.columns != 1)) return false;
  if (p.bias.data && (p.bias.columns != 1 || (p.m > 1 && p.bias.rows != 0))) return false;
  static const bool wide = cpu_supports("avx512");
  const dnnl::memory::desc panels({p.k, p.n}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::BA16a64b);
  return wide && w.memory.get_desc() == panels;
}

// The weight that the calling thread used last: a model uses its weights in the same order call after call.
std::weak_ptr<PackedWeight>& last_used() {
  thread_local std::weak_ptr<PackedWeight> last;
  return last;
}

}  // namespace

bool few_rows_matmul(const MatmulProblem& p, const std::shared_ptr<PackedWeight>& weight, int threads) {
  if (!fits(p, *weight)) return false;
  const Panels panels = panels_at(weight->bytes.data(), p.k, p.n);
  if (const auto last = last_used().lock(); last && last != weight) last->next.set(weight->bytes.data(), p.k, p.n);
  last_used() = weight;
  const auto& after = weight->next;
  const Panels next = panels_at(after.data.load(std::memory_order_relaxed), after.k.load(std::memory_order_relaxed),
                                after.n.load(std::memory_order_relaxed));
  const int team = p.m * p.n * p.k <= kSerial ? 1 : static_cast<int>(std::min<std::int64_t>(threads, panels.count));
#pragma omp parallel num_threads(team) if (team > 1)
  {
    const int thread = omp_get_thread_num(), count = omp_get_num_threads();
    const std::int64_t end = panels.begin(thread + 1, count);
    for (std::int64_t i = panels.begin(thread, count); i < end; ++i) {
      // Fetching never faults: the weight that followed may be gone.
      const float* ahead = i + 1 < end ? panels.at(i + 1)
                           : next.data ? next.at(next.begin(thread, count))
                                       : panels.at(i);
      run_panel(p, panels, i, ahead);
    }
  }
  return true;
}

}  // namespace stax::runtime::onednn

#else

namespace stax::runtime::onednn {
bool few_rows_matmul(const MatmulProblem&, const std::shared_ptr<PackedWeight>&, int) { return false; }
}  // namespace stax::runtime::onednn

#endif
