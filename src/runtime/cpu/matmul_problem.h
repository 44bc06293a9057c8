// A matrix product in normal form: unit batch dimensions dropped, batch dimensions merged into each other and into the
// rows.
#pragma once
#include <stax/tensor/array.h>

#include <boost/container/static_vector.hpp>
#include <utility>

#include "runtime/cpu/scratch.h"
#include "runtime/matmul.h"

namespace stax::runtime {

using SmallDims = boost::container::static_vector<std::int64_t, kMaxRank>;

// One operand: address, batch strides, row and column strides in elements. Null data: absent.
struct MatmulMatrix {
  void* data = nullptr;
  SmallDims batch;
  std::int64_t rows = 0, columns = 0;

  SmallDims strides() const;  // batch, rows, columns
  bool broadcasts_over_batch() const;
};

struct MatmulProblem {
  Dtype dtype = Dtype::f32;
  SmallDims batch;
  std::int64_t m = 0, n = 0, k = 0;
  MatmulMatrix a, b, out, bias, residual;
  Activation activation = Activation::none;
  double scale = 1.0;
  const std::shared_ptr<Storage>* weight = nullptr;

  std::int64_t batch_count() const;
  SmallDims sizes(std::int64_t rows, std::int64_t columns) const;  // batch, rows, columns
};

// Rank checks are InternalErrors.
MatmulProblem normalise(const MatmulArgs& args);
// out = b^T · a^T form of the same product: for outputs that are contiguous along their rows.
MatmulProblem transposed(const MatmulProblem& p);

// Memory order without gaps in the columns, rows not overlapping, batch strides positive and not overlapping unless 0.
bool is_row_major(const MatmulMatrix& x, const SmallDims& batch, std::int64_t rows, std::int64_t columns);
// Replaces the operand by a contiguous copy (of `bytes` an element), kept in `hold`. Broadcast batch dimensions stay
// so.
void make_contiguous(MatmulMatrix& x, const SmallDims& batch, std::int64_t rows, std::int64_t columns, int bytes,
                     Scratch& hold);
// A contiguous [batch, rows, columns] matrix without memory, and its number of elements; over fresh memory.
std::pair<MatmulMatrix, std::int64_t> row_major_matrix(const SmallDims& batch, std::int64_t rows, std::int64_t columns);
MatmulMatrix fresh_matrix(const SmallDims& batch, std::int64_t rows, std::int64_t columns, int bytes, Scratch& hold);

}  // namespace stax::runtime
