// A product as cuBLASLt takes it: D = epilogue(scale · op(A)·op(B) + C) in column-major order.
#pragma once
#include <cstring>
#include <optional>

#include "runtime/cpu/matmul_problem.h"
#include "runtime/cuda/cublas_api.h"

namespace stax::runtime {

// A matrix in memory: op(X)[i, j] with i running over `first` elements.
struct LtMatrix {
  void* data = nullptr;
  std::int64_t leading = 1;
  std::int64_t batch_stride = 0;
  bool transposed = false;  // the second index is the contiguous one
};

// What two strides in elements are in the library's terms; nothing when neither runs by ones or columns would overlap.
std::optional<LtMatrix> lt_matrix(void* data, std::int64_t first_stride, std::int64_t second_stride, std::int64_t first,
                                  std::int64_t second);

// One call, all but addresses. Equal keys share descriptors and algorithm.
struct LtKey {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::int64_t leading[4] = {1, 1, 1, 1}, stride[4] = {};  // A, B, C, D
  std::int64_t bias_stride = 0;
  std::int32_t type = 0, compute = 0, scale_type = 0;
  std::uint32_t epilogue = lt::kDefault;
  std::uint8_t transposed[2] = {};
  std::uint8_t has_c = 0, own_c = 0;         // own_c: C is laid out as `leading[2]` says, else it is D
  std::uint8_t alignment[4] = {8, 8, 8, 8};  // log2 of what the addresses are multiples of, at most 8

  bool operator==(const LtKey& o) const { return std::memcmp(this, &o, sizeof(LtKey)) == 0; }
};
static_assert(std::has_unique_object_representations_v<LtKey>);
struct LtKeyHash {
  std::size_t operator()(const LtKey& key) const;
};

}  // namespace stax::runtime
