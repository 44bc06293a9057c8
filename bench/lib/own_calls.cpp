#include "lib/own_calls.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "lib/gpu_rows.h"
#include "runtime/cuda/cublas.h"
#include "runtime/cuda/cuda_module.h"
#include "runtime/cuda/driver.h"

namespace bench {

namespace {

namespace lt = stax::runtime::lt;

constexpr int kRows = 64, kWidth = 128;
// What a plan's products ask for, so that the algorithm is theirs.
constexpr std::uint64_t kWorkspace = 32 << 20;
constexpr std::uint32_t kReduction = lt::kReduceInComputeType;

// Three tensors and Triton's two scratch addresses.
constexpr int kParameters = 5;
constexpr const char* kEmpty =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry empty(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e) { ret; }\n";

stax::Array on_gpu(std::vector<std::int64_t> sizes, stax::Dtype dtype) {
  return stax::Array::empty(std::move(sizes), dtype, gpu().device());
}

}  // namespace

struct OwnCalls::Prepared {
  const stax::runtime::CublasLt& library = stax::runtime::cublas_lt();
  std::shared_ptr<stax::runtime::Module> module =
      gpu().load_module({"empty", kEmpty, "sm_90", {{"empty", 32, 0, false}}});
  const stax::runtime::CudaFunction& empty =
      *static_cast<const stax::runtime::CudaFunction*>(module->function("empty"));
  lt::Handle handle = nullptr;
  lt::MatmulDesc product = nullptr;
  lt::Layout weight = nullptr, rows = nullptr;
  lt::Preference preference = nullptr;
  lt::Heuristic best{};
  stax::Array w = on_gpu({kWidth, kWidth}, stax::Dtype::f32), x = on_gpu({kRows, kWidth}, stax::Dtype::f32),
              y = on_gpu({kRows, kWidth}, stax::Dtype::f32),
              workspace = on_gpu({static_cast<std::int64_t>(kWorkspace)}, stax::Dtype::u8);

  Prepared() {
    library.create(&handle);
    library.desc_create(&product, lt::kCompute32F, lt::kR32F);
    library.layout_create(&weight, lt::kR32F, kWidth, kWidth, kWidth);
    library.layout_create(&rows, lt::kR32F, kWidth, kRows, kWidth);
    library.preference_create(&preference);
    library.preference_set(preference, lt::kMaxWorkspace, &kWorkspace, sizeof kWorkspace);
    library.preference_set(preference, lt::kReductionSchemes, &kReduction, sizeof kReduction);
    int found = 0;
    library.heuristic(handle, product, weight, rows, rows, rows, preference, 1, &best, &found);
  }
  ~Prepared() {
    library.preference_destroy(preference);
    library.layout_destroy(rows);
    library.layout_destroy(weight);
    library.desc_destroy(product);
    library.destroy(handle);
  }
};

OwnCalls::OwnCalls(int kernels) : prepared_(std::make_unique<Prepared>()), kernels_(kernels) {}
OwnCalls::~OwnCalls() = default;

void OwnCalls::run() const {
  Prepared& p = *prepared_;
  const auto& context = gpu().context();
  std::uint64_t slots[kParameters] = {};
  void* parameters[kParameters];
  for (int i = 0; i < kParameters; ++i) parameters[i] = &slots[i];
  const float one = 1, zero = 0;
  for (int i = 0; i < kernels_; ++i) {
    (void)context.driver().launch(p.empty.handle, 64, 1, 1, 32, 1, 1, 0, context.handle_of({}), parameters, nullptr);
    p.library.matmul(p.handle, p.product, &one, p.w.data(), p.weight, p.x.data(), p.rows, &zero, p.y.data(), p.rows,
                     p.y.data(), p.rows, &p.best.algorithm, p.workspace.data(), p.best.workspace, context.stream());
  }
}

HostTime host_time(const std::function<void()>& call, const std::function<void()>& beside) {
  constexpr int kPairs = 100, kBatch = 10;
  const auto batch = [](const std::function<void()>& f) {
    gpu().synchronize({});
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kBatch; ++i) f();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / kBatch;
  };
  for (int i = 0; i < 5; ++i) (void)batch(call), (void)batch(beside);
  std::vector<double> calls, besides, figures;
  for (int n = 0; n < HostTime::kFigures; ++n) {
    std::vector<double> differences;
    for (int i = 0; i < kPairs; ++i) {
      const bool call_first = i % 2 == 0;
      const double first = batch(call_first ? call : beside), second = batch(call_first ? beside : call);
      calls.push_back(call_first ? first : second);
      besides.push_back(call_first ? second : first);
      differences.push_back(calls.back() - besides.back());
    }
    figures.push_back(median(differences));
  }
  const auto [least, most] = std::ranges::minmax(figures);
  return {median(calls), median(besides), median(figures), least, most};
}

}  // namespace bench
