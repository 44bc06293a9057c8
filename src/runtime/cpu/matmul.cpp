#include "runtime/cpu/matmul.h"

#include <fmt/format.h>

#include <atomic>

#include "runtime/cpu/copy.h"
#include "runtime/cpu/onednn_matmul.h"
#include "runtime/cpu/simple_matmul.h"

namespace stax::runtime {

namespace {

std::atomic<std::uint64_t> g_calls{0};

Array as_array(const MatmulMatrix& x, const SmallDims& sizes, Dtype dtype) {
  // A view that owns nothing; the storage spans all memory, so that negative strides are harmless.
  auto storage = std::make_shared<Storage>(x.data, 0, Device{}, nullptr);
  const SmallDims strides = x.strides();
  return Array(std::move(storage), dtype,
               Layout{Dims(sizes.begin(), sizes.end()), Dims(strides.begin(), strides.end()), 0});
}

// The operand converted to f32, contiguous; broadcast batch dimensions stay so.
MatmulMatrix widened(const MatmulMatrix& x, const SmallDims& batch, std::int64_t rows, std::int64_t columns, Dtype from,
                     Scratch& hold) {
  if (!x.data) return x;
  SmallDims distinct = batch;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (x.batch[i] == 0) distinct[i] = 1;
  MatmulMatrix wide = fresh_matrix(distinct, rows, columns, 4, hold);
  distinct.push_back(rows);
  distinct.push_back(columns);
  copy_elements(as_array(x, distinct, from), as_array(wide, distinct, Dtype::f32));
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (x.batch[i] == 0) wide.batch[i] = 0;
  return wide;
}

void run(const MatmulProblem& p);

// A half type that the library lacks: in f32, rounded once.
void run_widened(const MatmulProblem& p) {
  Scratch a, b, bias, residual, out;
  MatmulProblem w = p;
  w.dtype = Dtype::f32;
  w.a = widened(p.a, p.batch, p.m, p.k, p.dtype, a);
  w.b = widened(p.b, p.batch, p.k, p.n, p.dtype, b);
  w.bias = widened(p.bias, p.batch, p.m, p.n, p.dtype, bias);
  w.residual = widened(p.residual, p.batch, p.m, p.n, p.dtype, residual);
  w.out = fresh_matrix(p.batch, p.m, p.n, 4, out);
  w.weight = nullptr;
  run(w);
  const SmallDims sizes = p.sizes(p.m, p.n);
  copy_elements(as_array(w.out, sizes, Dtype::f32), as_array(p.out, sizes, p.dtype));
}

void run(const MatmulProblem& p) {
  if (p.dtype == Dtype::f32) {
    if (p.k == 0 || !onednn_matmul(p)) simple_matmul(p);
  } else if (is_half(p.dtype)) {
    if (p.dtype != Dtype::bf16 || p.k == 0 || !onednn_matmul(p)) run_widened(p);
  } else {
    simple_matmul(p);
  }
}

}  // namespace

void cpu_matmul(const MatmulArgs& args) {
  g_calls.fetch_add(1, std::memory_order_relaxed);
  if (args.dtype == Dtype::boolean)
    throw UserError("matmul: boolean matrices cannot be multiplied", {}, "Cast them first");
  if (!is_floating(args.dtype) && (args.activation != Activation::none || args.scale != 1.0))
    throw UserError(fmt::format("matmul: {} and scale {} need a floating dtype, got {}", to_text(args.activation),
                                args.scale, to_text(args.dtype)));
  for (const std::int64_t s : args.batch)
    if (s == 0) return;
  if (args.m == 0 || args.n == 0) return;
  MatmulArgs filled = args;
  // Without elements to read, operands need no memory.
  static double nothing = 0;
  if (args.k == 0) {
    if (!filled.a.data) filled.a.data = &nothing;
    if (!filled.b.data) filled.b.data = &nothing;
    filled.weight = nullptr;
  }
  run(normalise(filled));
}

MatmulStats matmul_stats() {
  MatmulStats s;
  s.calls = g_calls.load();
  onednn_add_stats(s);
  return s;
}
void release_matmul_caches() { onednn_release(); }
void set_packed_weight_limit(std::size_t bytes) { onednn_set_packed_limit(bytes); }

}  // namespace stax::runtime
