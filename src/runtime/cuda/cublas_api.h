// What Stax uses of cuBLASLt's API, declared from its public description; the library is opened at run time.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/driver_api.h"

namespace stax::runtime::lt {

using Status = int;
using Handle = struct HandleOpaque*;
using MatmulDesc = struct MatmulDescOpaque*;
using Layout = struct LayoutOpaque*;
using Preference = struct PreferenceOpaque*;

inline constexpr Status kSuccess = 0, kNotSupported = 15;

enum DataType : int { kR32F = 0, kR64F = 1, kR16F = 2, kR16BF = 14 };
enum ComputeType : int { kCompute32F = 68, kCompute64F = 70, kCompute32FFastTF32 = 77 };
enum Operation : int { kPlain = 0, kTransposed = 1 };
enum Epilogue : std::uint32_t { kDefault = 1, kRelu = 2, kBias = 4, kGelu = 32 };  // sums of bias and one activation
enum MatmulDescAttribute : int {
  kTransA = 3,
  kTransB = 4,
  kEpilogue = 7,
  kBiasPointer = 8,
  kBiasBatchStride = 10,
};
enum LayoutAttribute : int { kBatchCount = 5, kBatchStride = 6 };
enum PreferenceAttribute : int {
  kMaxWorkspace = 1,
  kReductionSchemes = 3,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8,
};
// Partial sums of a split product stay in the type of the computation.
inline constexpr std::uint32_t kReduceInComputeType = 2;

struct Algorithm {
  std::uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};

// X(member, symbol, result, parameters)
#define STAX_CUBLASLT_FUNCTIONS(X)                                                                                 \
  X(create, cublasLtCreate, Status, (Handle * handle))                                                             \
  X(destroy, cublasLtDestroy, Status, (Handle handle))                                                             \
  X(version, cublasLtGetVersion, std::size_t, ())                                                                  \
  X(status_name, cublasLtGetStatusName, const char*, (Status status))                                              \
  X(desc_create, cublasLtMatmulDescCreate, Status, (MatmulDesc * desc, int compute_type, int scale_type))          \
  X(desc_destroy, cublasLtMatmulDescDestroy, Status, (MatmulDesc desc))                                            \
  X(desc_set, cublasLtMatmulDescSetAttribute, Status,                                                              \
    (MatmulDesc desc, int attribute, const void* value, std::size_t bytes))                                        \
  X(layout_create, cublasLtMatrixLayoutCreate, Status,                                                             \
    (Layout * layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading))                  \
  X(layout_destroy, cublasLtMatrixLayoutDestroy, Status, (Layout layout))                                          \
  X(layout_set, cublasLtMatrixLayoutSetAttribute, Status,                                                          \
    (Layout layout, int attribute, const void* value, std::size_t bytes))                                          \
  X(preference_create, cublasLtMatmulPreferenceCreate, Status, (Preference * preference))                          \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy, Status, (Preference preference))                          \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute, Status,                                                  \
    (Preference preference, int attribute, const void* value, std::size_t bytes))                                  \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic, Status,                                                             \
    (Handle handle, MatmulDesc desc, Layout a, Layout b, Layout c, Layout d, Preference preference, int requested, \
     Heuristic* results, int* found))                                                                              \
  X(matmul, cublasLtMatmul, Status,                                                                                \
    (Handle handle, MatmulDesc desc, const void* alpha, const void* a, Layout a_layout, const void* b,             \
     Layout b_layout, const void* beta, const void* c, Layout c_layout, void* d, Layout d_layout,                  \
     const Algorithm* algorithm, void* workspace, std::size_t workspace_bytes, cu::StreamHandle stream))

struct Functions {
#define X(member, symbol, result, parameters) result(*member) parameters = nullptr;
  STAX_CUBLASLT_FUNCTIONS(X)
#undef X
};

}  // namespace stax::runtime::lt
