#include "runtime/cpu/onednn_matmul.h"

#include <algorithm>
#include <atomic>

#include "runtime/cpu/batched_matmul.h"
#include "runtime/cpu/copy.h"
#include "runtime/cpu/lru_map.h"
#include "runtime/cpu/onednn_primitive.h"
#include "runtime/cpu/onednn_weights.h"
#include "runtime/cpu/panel_matmul.h"
#include "runtime/cpu/simple_matmul.h"
#include "runtime/cpu/threads.h"

namespace stax::runtime {

using namespace onednn;

namespace {

constexpr std::size_t kMostPrimitives = 512;
// More rows run in pieces of this many, so that few primitives serve every length.
constexpr std::int64_t kRowsAtOnce = 512;

struct PrimitiveCache {
  std::mutex mutex;
  LruMap<PrimitiveKey, std::shared_ptr<Primitive>, KeyHash>
      primitives;  // null: the library has only its reference loops
  std::uint64_t built = 0;
};
PrimitiveCache& cache() {
  static auto* c = new PrimitiveCache;
  return *c;
}

std::shared_ptr<Primitive> find_or_make(const MatmulProblem& p, BiasForm bias, PackedWeight* packed, int threads) {
  const PrimitiveKey key = key_of(p, bias, packed ? WeightForm::packed : WeightForm::plain, threads);
  PrimitiveCache& c = cache();
  {
    const std::lock_guard lock(c.mutex);
    if (auto* found = c.primitives.find(key)) return *found;
  }
  dnnl::memory::desc layout;
  if (packed) layout = packed->memory.get_desc();
  auto made = Primitive::make(p, bias, packed ? &layout : nullptr);
  const std::lock_guard lock(c.mutex);
  ++c.built;
  c.primitives.insert(key, made);
  if (c.primitives.size() > kMostPrimitives) c.primitives.erase(PrimitiveKey(c.primitives.oldest().first));
  return made;
}

BiasForm bias_form(const MatmulProblem& p) {
  if (!p.bias.data) return BiasForm::none;
  const bool one_a_column =
      (p.n == 1 || p.bias.columns == 1) && (p.m == 1 || p.bias.rows == 0) && p.bias.broadcasts_over_batch();
  // A scale acts on the product alone, but the library's own bias comes before it.
  return one_a_column && p.scale == 1.0 ? BiasForm::row : BiasForm::full;
}

bool readable(const MatmulMatrix& x, const SmallDims& batch, std::int64_t rows, std::int64_t columns) {
  if (is_row_major(x, batch, rows, columns)) return true;
  MatmulMatrix flipped = x;
  std::swap(flipped.rows, flipped.columns);
  return is_row_major(flipped, batch, columns, rows);
}

bool same_strides(const MatmulMatrix& x, const MatmulMatrix& y) {
  return x.rows == y.rows && x.columns == y.columns && x.batch == y.batch;
}

// Operands that the library takes as they are, with the copies that made them so.
struct Prepared {
  MatmulProblem p;
  Scratch a, b, out, bias, residual;
  bool copied_out = false;
};

// A full-size operand of the epilogue: in the strides of the output.
void align_with_out(MatmulMatrix& x, Prepared& r, int bytes, Scratch& hold) {
  if (!x.data || same_strides(x, r.p.out)) return;
  MatmulMatrix copy = fresh_matrix(r.p.batch, r.p.m, r.p.n, bytes, hold);
  strided_copy(copy.data, copy.strides(), x.data, x.strides(), r.p.sizes(r.p.m, r.p.n), bytes);
  x = copy;
}

Prepared prepare(const MatmulProblem& p, BiasForm bias, bool copy_inputs) {
  Prepared r;
  r.p = p;
  const int bytes = byte_size(p.dtype);
  auto fix = [&](MatmulMatrix& x, std::int64_t rows, std::int64_t columns, Scratch& hold) {
    if (copy_inputs ? !is_row_major(x, p.batch, rows, columns) || x.rows != columns
                    : !readable(x, p.batch, rows, columns))
      make_contiguous(x, p.batch, rows, columns, bytes, hold);
  };
  fix(r.p.a, p.m, p.k, r.a);
  fix(r.p.b, p.k, p.n, r.b);
  const bool out_fits = is_row_major(p.out, p.batch, p.m, p.n) &&
                        std::none_of(p.out.batch.begin(), p.out.batch.end(), [](std::int64_t s) { return s == 0; });
  const bool alike =
      (!p.residual.data || same_strides(p.residual, p.out)) && (bias != BiasForm::full || same_strides(p.bias, p.out));
  if (!out_fits || (copy_inputs && p.out.rows != p.n) || !alike) {
    // Contiguous outputs serve as they are; the epilogue's operands follow.
    MatmulMatrix contiguous = fresh_matrix(p.batch, p.m, p.n, bytes, r.out);
    if (out_fits && same_strides(contiguous, p.out)) {
      r.out = Scratch();
    } else {
      r.p.out = contiguous;
      r.copied_out = true;
    }
  }
  align_with_out(r.p.residual, r, bytes, r.residual);
  if (bias == BiasForm::full) align_with_out(r.p.bias, r, bytes, r.bias);
  return r;
}

bool run_prepared(const MatmulProblem& p, BiasForm bias, PackedWeight* packed, int threads) {
  const auto primitive = find_or_make(p, bias, packed, threads);
  if (!primitive) return false;
  primitive->run(p, packed ? &packed->memory : nullptr);
  return true;
}

MatmulProblem rows_of(const MatmulProblem& p, std::int64_t begin, std::int64_t count) {
  MatmulProblem part = p;
  part.m = count;
  const std::int64_t bytes = byte_size(p.dtype);
  for (auto member : {&MatmulProblem::a, &MatmulProblem::out, &MatmulProblem::bias, &MatmulProblem::residual})
    if (MatmulMatrix& x = part.*member; x.data) x.data = static_cast<char*>(x.data) + begin * x.rows * bytes;
  return part;
}

bool run_in_pieces(const MatmulProblem& p, BiasForm bias, PackedWeight* packed, int threads) {
  if (!packed || p.m <= 2 * kRowsAtOnce) return run_prepared(p, bias, packed, threads);
  for (std::int64_t row = 0; row < p.m; row += kRowsAtOnce)
    if (!run_prepared(rows_of(p, row, std::min(kRowsAtOnce, p.m - row)), bias, packed, threads)) return false;
  return true;
}

void copy_out(const Prepared& r, const MatmulProblem& p) {
  if (!r.copied_out) return;
  strided_copy(p.out.data, p.out.strides(), r.p.out.data, r.p.out.strides(), p.sizes(p.m, p.n), byte_size(p.dtype));
}

// The library's ReLU turns NaN into 0. Ours follows as a pass of its own, before the residual.
bool relu_apart(MatmulProblem p) {
  if (p.dtype == Dtype::bf16 && p.residual.data) return false;  // would round twice
  const MatmulMatrix residual = p.residual;
  p.residual = {};
  p.activation = Activation::none;
  if (!onednn_matmul(p)) return false;
  p.residual = residual;
  relu_and_add(p);
  return true;
}

}  // namespace

bool onednn_matmul(const MatmulProblem& given) {
  if (given.activation == Activation::relu) return relu_apart(given);
  const int threads = apply_num_threads();
  // A column-major output is a row-major one of the transposed product.
  const bool flip = given.m != 1 && given.n != 1 && given.out.columns != 1 && given.out.rows == 1;
  const MatmulProblem p = flip ? transposed(given) : given;
  if (batched_matmul(p, threads)) return true;
  const BiasForm bias = bias_form(p);
  std::shared_ptr<PackedWeight> packed;
  if (p.weight && p.batch.empty() && readable(p.b, p.batch, p.k, p.n)) packed = PackedWeights::instance().get(p);
  for (const bool copy_inputs : {false, true}) {
    const Prepared r = prepare(p, bias, copy_inputs);
    if (packed && panel_matmul(r.p, packed, threads)) {
      copy_out(r, p);
      return true;
    }
    if ((packed && run_in_pieces(r.p, bias, packed.get(), threads)) || run_in_pieces(r.p, bias, nullptr, threads)) {
      copy_out(r, p);
      return true;
    }
  }
  return false;
}

void onednn_add_stats(MatmulStats& stats) {
  PackedWeights::instance().add_stats(stats);
  const std::lock_guard lock(cache().mutex);
  stats.primitives_built = cache().built;
  stats.primitives_cached = cache().primitives.size();
}

void onednn_release() {
  PackedWeights::instance().clear();
  const std::lock_guard lock(cache().mutex);
  cache().primitives.erase_if([](const auto&, const auto&) { return true; });
}

void onednn_set_packed_limit(std::size_t bytes) { PackedWeights::instance().set_limit(bytes); }

}  // namespace stax::runtime
