#include "runtime/cpu/matmul_problem.h"

#include <algorithm>

#include "runtime/cpu/copy.h"

namespace stax::runtime {

SmallDims MatmulMatrix::strides() const {
  SmallDims all = batch;
  all.push_back(rows);
  all.push_back(columns);
  return all;
}

bool MatmulMatrix::broadcasts_over_batch() const {
  return std::all_of(batch.begin(), batch.end(), [](std::int64_t s) { return s == 0; });
}

std::int64_t MatmulProblem::batch_count() const {
  std::int64_t count = 1;
  for (const std::int64_t s : batch) count *= s;
  return count;
}

SmallDims MatmulProblem::sizes(std::int64_t rows, std::int64_t columns) const {
  SmallDims all = batch;
  all.push_back(rows);
  all.push_back(columns);
  return all;
}

namespace {

constexpr MatmulMatrix MatmulProblem::*kOperands[] = {&MatmulProblem::a, &MatmulProblem::b, &MatmulProblem::out,
                                                      &MatmulProblem::bias, &MatmulProblem::residual};

// Keeps the batch dimensions that are not 1.
MatmulMatrix operand(const MatmulOperand& o, std::span<const std::int64_t> batch, std::int64_t rows,
                     std::int64_t columns) {
  MatmulMatrix x;
  x.data = o.data;
  if (!o.data) return x;
  STAX_CHECK(o.strides.size() == batch.size() + 2, "matmul: rank of an operand");
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (batch[i] != 1) x.batch.push_back(o.strides[i]);
  x.rows = rows == 1 ? 0 : o.strides[batch.size()];
  x.columns = columns == 1 ? 0 : o.strides[batch.size() + 1];
  return x;
}

void merge_batch(MatmulProblem& p) {
  for (std::size_t i = p.batch.size(); i-- > 1;) {
    const bool runs_on = std::all_of(std::begin(kOperands), std::end(kOperands), [&](auto member) {
      const MatmulMatrix& x = p.*member;
      return !x.data || x.batch[i - 1] == x.batch[i] * p.batch[i];
    });
    if (!runs_on) continue;
    for (auto member : kOperands)
      if (MatmulMatrix& x = p.*member; x.data) x.batch.erase(x.batch.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    p.batch[i - 1] *= p.batch[i];
    p.batch.erase(p.batch.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// The same b for every batch: the innermost batch dimension becomes part of the rows where the strides run on.
void merge_rows(MatmulProblem& p) {
  while (!p.batch.empty() && p.b.broadcasts_over_batch()) {
    const std::size_t last = p.batch.size() - 1;
    auto runs_on = [&](const MatmulMatrix& x) { return !x.data || p.m == 1 || x.batch[last] == x.rows * p.m; };
    if (!runs_on(p.a) || !runs_on(p.out) || !runs_on(p.bias) || !runs_on(p.residual)) return;
    for (auto member : {&MatmulProblem::a, &MatmulProblem::out, &MatmulProblem::bias, &MatmulProblem::residual})
      if (MatmulMatrix& x = p.*member; x.data) {
        if (p.m == 1) x.rows = x.batch[last];
        x.batch.pop_back();
      }
    p.b.batch.pop_back();
    p.m *= p.batch[last];
    p.batch.pop_back();
  }
}

}  // namespace

MatmulProblem normalise(const MatmulArgs& args) {
  STAX_CHECK(args.a.data && args.b.data && args.out.data, "matmul: an operand has no memory");
  MatmulProblem p;
  p.dtype = args.dtype;
  p.m = args.m, p.n = args.n, p.k = args.k;
  p.activation = args.activation, p.scale = args.scale;
  for (const std::int64_t s : args.batch)
    if (s != 1) p.batch.push_back(s);
  p.a = operand(args.a, args.batch, p.m, p.k);
  p.b = operand(args.b, args.batch, p.k, p.n);
  p.out = operand(args.out, args.batch, p.m, p.n);
  p.bias = operand(args.bias, args.batch, p.m, p.n);
  p.residual = operand(args.residual, args.batch, p.m, p.n);
  p.weight = args.weight;
  merge_batch(p);
  merge_rows(p);
  return p;
}

MatmulProblem transposed(const MatmulProblem& p) {
  auto flip = [](MatmulMatrix x) {
    std::swap(x.rows, x.columns);
    return x;
  };
  MatmulProblem t = p;
  t.m = p.n, t.n = p.m;
  t.a = flip(p.b), t.b = flip(p.a);
  t.out = flip(p.out), t.bias = flip(p.bias), t.residual = flip(p.residual);
  t.weight = nullptr;
  return t;
}

bool is_row_major(const MatmulMatrix& x, const SmallDims& batch, std::int64_t rows, std::int64_t columns) {
  if (columns != 1 && x.columns != 1) return false;
  if (rows != 1 && x.rows < columns) return false;
  struct Dim {
    std::int64_t stride, size;
  };
  boost::container::static_vector<Dim, kMaxRank + 1> dims;
  dims.push_back({rows == 1 ? columns : x.rows, rows});
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (x.batch[i] < 0) return false;
    if (x.batch[i] != 0) dims.push_back({x.batch[i], batch[i]});
  }
  // Batch dimensions may lie between the rows (heads inside a row); no two elements may share memory.
  std::sort(dims.begin(), dims.end(), [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
  std::int64_t covered = columns;
  for (const Dim& d : dims) {
    if (d.stride < covered) return false;
    covered = d.stride * d.size;
  }
  return true;
}

std::pair<MatmulMatrix, std::int64_t> row_major_matrix(const SmallDims& batch, std::int64_t rows,
                                                       std::int64_t columns) {
  MatmulMatrix x;
  x.columns = columns == 1 ? 0 : 1;
  x.rows = rows == 1 ? 0 : columns;
  x.batch.resize(batch.size());
  std::int64_t step = rows * columns;
  for (std::size_t i = batch.size(); i-- > 0;) {
    x.batch[i] = step;
    step *= batch[i];
  }
  return {std::move(x), step};
}

MatmulMatrix fresh_matrix(const SmallDims& batch, std::int64_t rows, std::int64_t columns, int bytes, Scratch& hold) {
  auto [x, elements] = row_major_matrix(batch, rows, columns);
  hold = Scratch(static_cast<std::size_t>(elements) * static_cast<std::size_t>(bytes));
  x.data = hold.data();
  return x;
}

void make_contiguous(MatmulMatrix& x, const SmallDims& batch, std::int64_t rows, std::int64_t columns, int bytes,
                     Scratch& hold) {
  SmallDims distinct = batch;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (x.batch[i] == 0) distinct[i] = 1;
  MatmulMatrix copy = fresh_matrix(distinct, rows, columns, bytes, hold);
  distinct.push_back(rows);
  distinct.push_back(columns);
  strided_copy(copy.data, copy.strides(), x.data, x.strides(), distinct, bytes);
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (x.batch[i] == 0) copy.batch[i] = 0;
  x = copy;
}

}  // namespace stax::runtime
