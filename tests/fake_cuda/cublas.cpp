// A stand-in for cuBLASLt: the product of the descriptors, element by element, on the host.
#include <stax/tensor/dtype.h>

#include <cmath>
#include <cstring>

#include "runtime/cuda/cublas_api.h"
#include "state.h"

namespace fake {
namespace {

namespace lt = stax::runtime::lt;

struct Desc {
  int compute = 0, scale = 0, trans_a = 0, trans_b = 0;
  std::uint32_t epilogue = lt::kDefault;
  const void* bias = nullptr;
  std::int64_t bias_stride = 0;
};
struct Layout {
  int type = 0;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0, stride = 0;
  std::int32_t count = 1;
};
struct Preference {
  std::uint32_t schemes = ~0u;
};

double read(int type, const void* p, std::int64_t i) {
  switch (type) {
    case lt::kR32F:
      return static_cast<const float*>(p)[i];
    case lt::kR64F:
      return static_cast<const double*>(p)[i];
    default:
      if (type == lt::kR16F) return static_cast<double>(static_cast<float>(static_cast<const stax::Half*>(p)[i]));
      return static_cast<double>(static_cast<float>(static_cast<const stax::BFloat16*>(p)[i]));
  }
}

void write(int type, void* p, std::int64_t i, double v) {
  switch (type) {
    case lt::kR32F:
      static_cast<float*>(p)[i] = static_cast<float>(v);
      return;
    case lt::kR64F:
      static_cast<double*>(p)[i] = v;
      return;
    case lt::kR16F:
      static_cast<stax::Half*>(p)[i] = stax::Half(static_cast<float>(v));
      return;
    default:
      static_cast<stax::BFloat16*>(p)[i] = stax::BFloat16(static_cast<float>(v));
  }
}

bool fits(const Desc& d, const Layout& a, const Layout& b, const Layout& c, const Layout& r) {
  const bool ta = d.trans_a == lt::kTransposed, tb = d.trans_b == lt::kTransposed;
  const std::uint64_t m = ta ? a.columns : a.rows, k = ta ? a.rows : a.columns, kb = tb ? b.columns : b.rows,
                      n = tb ? b.rows : b.columns;
  auto covers = [](const Layout& x) { return x.leading >= static_cast<std::int64_t>(x.rows); };
  return k > 0 && k == kb && r.rows == m && r.columns == n && c.rows == m && c.columns == n && covers(a) && covers(b) &&
         covers(c) && covers(r) && a.count == r.count && b.count == r.count && c.count == r.count &&
         (r.count == 1 || r.stride != 0);
}

void product(const Desc& d, double alpha, const void* a, const Layout& la, const void* b, const Layout& lb, double beta,
             const void* c, const Layout& lc, void* r, const Layout& lr) {
  const bool ta = d.trans_a == lt::kTransposed, tb = d.trans_b == lt::kTransposed;
  const auto m = static_cast<std::int64_t>(lr.rows), n = static_cast<std::int64_t>(lr.columns),
             k = static_cast<std::int64_t>(ta ? la.rows : la.columns);
  for (std::int64_t batch = 0; batch < lr.count; ++batch)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += read(la.type, a, batch * la.stride + (ta ? l + i * la.leading : i + l * la.leading)) *
                 read(lb.type, b, batch * lb.stride + (tb ? j + l * lb.leading : l + j * lb.leading));
        sum *= alpha;
        if (beta != 0) sum += beta * read(lc.type, c, batch * lc.stride + i + j * lc.leading);
        if (d.epilogue & lt::kBias) sum += read(lr.type, d.bias, batch * d.bias_stride + i);
        if (d.epilogue & lt::kRelu) sum = sum < 0 ? 0 : sum;
        if (d.epilogue & lt::kGelu)
          sum = 0.5 * sum * (1 + std::tanh(std::sqrt(2 / M_PI) * (sum + 0.044715 * sum * sum * sum)));
        write(lr.type, r, batch * lr.stride + i + j * lr.leading, sum);
      }
}

template <class T>
T take(const void* value) {
  T v;
  std::memcpy(&v, value, sizeof(T));
  return v;
}

}  // namespace
}  // namespace fake

using namespace fake;
using lt::Status;

// NOLINTBEGIN(readability-identifier-naming): the names of the library
extern "C" {
Status cublasLtCreate(lt::Handle* handle) {
  *handle = reinterpret_cast<lt::Handle>(std::uintptr_t{8});
  return 0;
}
Status cublasLtDestroy(lt::Handle) { return 0; }
std::size_t cublasLtGetVersion() { return 130002; }
const char* cublasLtGetStatusName(Status s) {
  return s == lt::kNotSupported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_INVALID_VALUE";
}
Status cublasLtMatmulDescCreate(lt::MatmulDesc* desc, int compute, int scale) {
  auto* d = new Desc;
  d->compute = compute, d->scale = scale;
  *desc = reinterpret_cast<lt::MatmulDesc>(d);
  return 0;
}
Status cublasLtMatmulDescDestroy(lt::MatmulDesc desc) {
  delete reinterpret_cast<Desc*>(desc);
  return 0;
}
Status cublasLtMatmulDescSetAttribute(lt::MatmulDesc desc, int attribute, const void* value, std::size_t) {
  Desc& d = *reinterpret_cast<Desc*>(desc);
  if (attribute == lt::kTransA) d.trans_a = take<int>(value);
  if (attribute == lt::kTransB) d.trans_b = take<int>(value);
  if (attribute == lt::kEpilogue) d.epilogue = take<std::uint32_t>(value);
  if (attribute == lt::kBiasPointer) d.bias = take<const void*>(value);
  if (attribute == lt::kBiasBatchStride) d.bias_stride = take<std::int64_t>(value);
  return 0;
}
Status cublasLtMatrixLayoutCreate(lt::Layout* layout, int type, std::uint64_t rows, std::uint64_t columns,
                                  std::int64_t leading) {
  *layout = reinterpret_cast<lt::Layout>(new fake::Layout{type, rows, columns, leading, 0, 1});
  return 0;
}
Status cublasLtMatrixLayoutDestroy(lt::Layout layout) {
  delete reinterpret_cast<fake::Layout*>(layout);
  return 0;
}
Status cublasLtMatrixLayoutSetAttribute(lt::Layout layout, int attribute, const void* value, std::size_t) {
  auto& l = *reinterpret_cast<fake::Layout*>(layout);
  if (attribute == lt::kBatchCount) l.count = take<std::int32_t>(value);
  if (attribute == lt::kBatchStride) l.stride = take<std::int64_t>(value);
  return 0;
}
Status cublasLtMatmulPreferenceCreate(lt::Preference* p) {
  *p = reinterpret_cast<lt::Preference>(new fake::Preference);
  return 0;
}
Status cublasLtMatmulPreferenceDestroy(lt::Preference p) {
  delete reinterpret_cast<fake::Preference*>(p);
  return 0;
}
Status cublasLtMatmulPreferenceSetAttribute(lt::Preference p, int attribute, const void* value, std::size_t) {
  if (attribute == lt::kReductionSchemes) reinterpret_cast<fake::Preference*>(p)->schemes = take<std::uint32_t>(value);
  return 0;
}
Status cublasLtMatmulAlgoGetHeuristic(lt::Handle, lt::MatmulDesc desc, lt::Layout a, lt::Layout b, lt::Layout c,
                                      lt::Layout d, lt::Preference p, int, lt::Heuristic* results, int* found) {
  const std::lock_guard lock(state().mutex);
  ++state().counts.heuristics;
  auto l = [](lt::Layout x) -> const fake::Layout& { return *reinterpret_cast<fake::Layout*>(x); };
  *found = 0;
  if (!fits(*reinterpret_cast<Desc*>(desc), l(a), l(b), l(c), l(d)) ||
      reinterpret_cast<fake::Preference*>(p)->schemes != lt::kReduceInComputeType)
    return lt::kNotSupported;
  *found = 1;
  results[0] = {};
  return 0;
}
Status cublasLtMatmul(lt::Handle, lt::MatmulDesc desc, const void* alpha, const void* a, lt::Layout la, const void* b,
                      lt::Layout lb, const void* beta, const void* c, lt::Layout lc, void* d, lt::Layout ld,
                      const lt::Algorithm*, void*, std::size_t, stax::runtime::cu::StreamHandle) {
  const std::lock_guard lock(state().mutex);
  ++state().counts.matmuls;
  const Desc call = *reinterpret_cast<Desc*>(desc);
  auto l = [](lt::Layout x) { return *reinterpret_cast<fake::Layout*>(x); };
  const bool wide = call.scale == lt::kR64F;
  const double x = wide ? take<double>(alpha) : static_cast<double>(take<float>(alpha));
  const double y = wide ? take<double>(beta) : static_cast<double>(take<float>(beta));
  enqueue([=, la = l(la), lb = l(lb), lc = l(lc), ld = l(ld)] { product(call, x, a, la, b, lb, y, c, lc, d, ld); });
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
