// Loop programs as lowering makes them, one kernel an operator, for tests of fusion.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "loop/builder.h"
#include "loop/text.h"

namespace stax::fusion::test {

using loop::CombineOp;
using loop::Expr;
using loop::ScalarOp;
using loop::ValueId;
using loop::View;

class ProgramMaker {
 public:
  explicit ProgramMaker(bool dynamic = false);
  loop::Program& program() { return program_; }
  loop::Program take() { return std::move(program_); }

  Expr size(std::int64_t n);  // a constant, or a size symbol with that hint and binding
  Expr number(std::int64_t n) { return program_.context->constant(n); }
  View input(std::vector<Expr> sizes, Dtype dtype = Dtype::f32);
  View input_strided(std::vector<Expr> sizes, std::vector<Expr> strides, Dtype dtype);

  View unary(ScalarOp op, const View& x);
  View binary(ScalarOp op, const View& x, const View& y);  // broadcasts
  View add_number(const View& x, double c);
  View copy(const View& x);  // contiguous
  View cast(const View& x, Dtype dtype);
  View select(const View& condition, const View& x, const View& y);
  View reduce(CombineOp op, const View& x, const std::vector<int>& axes, bool keepdim = false, int part = -1);
  std::vector<View> reduce_all_parts(CombineOp op, const View& x, int axis);
  View mean(const View& x, const std::vector<int>& axes, bool keepdim = true);  // reduce and a multiplication
  View scan(CombineOp op, const View& x, int axis, bool reverse = false);
  View gather_rows(const View& table, const View& indices);  // [n, d] by [m] → [m, d]
  View matmul(const View& a, const View& b);                 // equal batch dimensions

  View transpose(View x, int a, int b) const;
  View slice(View x, int axis, Expr start, Expr length, std::int64_t step = 1) const;
  View flip(View x, int axis) const;
  View unsqueeze(View x, int axis) const;
  View merge(View x) const;  // contiguous: all axes into one
  Dtype dtype(const View& x) const { return program_.buffers[static_cast<std::size_t>(x.buffer)].dtype; }

  void output(const View& x);
  void write(const View& input, const View& value);  // in place, after all reads so far

  loop::Bindings bindings(std::uint32_t seed, bool exact) const;  // small whole numbers when exact

 private:
  View result(std::vector<Expr> sizes, Dtype dtype);
  static Expr address(const View& x, std::span<const Expr> index);
  int origin(std::string_view op);
  std::vector<Expr> broadcast(const View& x, const View& y) const;
  View pointwise(std::string_view op, std::vector<Expr> sizes, Dtype dtype,
                 const std::function<ValueId(loop::KernelBuilder&, std::span<const Expr>)>& body);

  bool dynamic_;
  loop::Program program_;
  std::vector<std::int64_t> size_values_;
  int inputs_ = 0;
};

// Runs both programs on copies of the same inputs; empty when outputs and inputs afterwards agree bit for bit (any NaN
// equals any NaN), else what differs.
std::string difference(const loop::Program& a, const loop::Program& b, const loop::Bindings& bindings);

int kernel_count(const loop::Program& p);

}  // namespace stax::fusion::test
