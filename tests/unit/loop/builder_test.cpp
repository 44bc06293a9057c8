// The builder: phases, folding, common values, index proofs.
#include "loop/builder.h"

#include "support.h"

namespace stax::loop {
namespace {

struct Fixture {
  Program p;
  Expr n, m;
  Fixture() {
    p.context = std::make_shared<symbolic::Context>();
    n = p.context->symbol("s0", {{2, symbolic::kMaxInf}, 1, 8});
    m = p.context->symbol("s1", {{2, symbolic::kMaxInf}, 1, 8});
    p.sizes = {n, m};
  }
  BufferId buffer(Dtype dtype, std::vector<Expr> sizes, BufferKind kind) {
    Buffer b;
    b.name = "b" + std::to_string(p.buffers.size());
    b.dtype = dtype;
    Expr stride = p.context->constant(1);
    b.strides.resize(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 0;) {
      b.strides[d] = stride;
      stride = stride * sizes[d];
    }
    b.sizes = std::move(sizes);
    b.kind = kind;
    if (kind == BufferKind::input) b.input = inputs++;
    p.buffers.push_back(b);
    return static_cast<BufferId>(p.buffers.size()) - 1;
  }
  int inputs = 0;
};

TEST(LoopBuilder, BuildsALayerNormLikeKernel) {
  Fixture f;
  const BufferId x = f.buffer(Dtype::bf16, {f.n, f.m}, BufferKind::input);
  const BufferId y = f.buffer(Dtype::bf16, {f.n, f.m}, BufferKind::output);
  KernelBuilder b(f.p, "norm");
  const Expr i = b.outer(f.n);
  const Expr r = b.phase({f.m})[0];
  const ValueId stats = b.combine(CombineOp::welford, {b.load(x, i * f.m + r)}, Dtype::f32);
  b.phase();
  const ValueId squares = b.part(stats, 1), number = b.part(stats, 2);
  const ValueId variance = b.binary(ScalarOp::div, squares, number);
  const ValueId scale = b.unary(ScalarOp::rsqrt, variance);
  const Expr q = b.phase({f.m})[0];
  const ValueId centred = b.binary(ScalarOp::sub, b.load(x, i * f.m + q), stats);
  b.store(y, i * f.m + q, b.binary(ScalarOp::mul, centred, scale));
  f.p.items.emplace_back(b.finish());
  verify(f.p);
  EXPECT_EQ(to_text(f.p, kernel_of(f.p)), R"(kernel norm outer (i0 < s0) {
  phase (r1 < s1) {
    %0 = load.f32 b0[i0*s1 + r1]
    %1 = combine.f32 welford %0
  }
  phase {
    %2 = part.f32 %1 1
    %3 = part.f32 %1 2
    %4 = div.f32 %2 %3
    %5 = rsqrt.f32 %4
  }
  phase (r2 < s1) {
    %6 = load.f32 b0[i0*s1 + r2]
    %7 = sub.f32 %6 %1
    %8 = mul.f32 %7 %5
    store b1[i0*s1 + r2] %8
  }
}
)");
}

TEST(LoopBuilder, FoldsExactlyAndSharesEqualValues) {
  Fixture f;
  const BufferId x = f.buffer(Dtype::f32, {f.n}, BufferKind::input);
  const BufferId y = f.buffer(Dtype::f32, {f.n}, BufferKind::output);
  KernelBuilder b(f.p, "k");
  const Expr i = b.outer(f.n);
  const ValueId a = b.load(x, i);
  EXPECT_EQ(b.load(x, i), a);
  const ValueId two = b.binary(ScalarOp::add, b.constant(1, Dtype::f32), b.constant(1, Dtype::f32));
  EXPECT_EQ(two, b.constant(2, Dtype::f32));
  EXPECT_EQ(b.binary(ScalarOp::mul, a, two), b.binary(ScalarOp::mul, a, two));
  // x + 0.0 is not x for -0.0.
  EXPECT_NE(b.binary(ScalarOp::add, a, b.constant(0, Dtype::f32)), a);
  // Approximated functions are not folded, integer division by zero keeps its error.
  const ValueId e = b.unary(ScalarOp::exp, two);
  const ValueId d = b.binary(ScalarOp::floor_div, b.constant_int(1, Dtype::i64), b.constant_int(0, Dtype::i64));
  const ValueId wrapped = b.binary(ScalarOp::add, b.constant_int(127, Dtype::i8), b.constant_int(1, Dtype::i8));
  EXPECT_EQ(wrapped, b.constant_int(-128, Dtype::i8));
  b.store(y, i,
          b.binary(ScalarOp::add, b.binary(ScalarOp::add, e, b.cast(d, Dtype::f32)), b.cast(wrapped, Dtype::f32)));
  f.p.items.emplace_back(b.finish());
  verify(f.p);
  int constants = 0, exps = 0, divisions = 0;
  for (const Value& v : kernel_of(f.p).values) {
    constants += v.op == ScalarOp::constant;
    exps += v.op == ScalarOp::exp;
    divisions += v.op == ScalarOp::floor_div;
  }
  EXPECT_EQ(constants, 4);  // 2.0, 1, 0, -128.0
  EXPECT_EQ(exps, 1);
  EXPECT_EQ(divisions, 1);
}

TEST(LoopBuilder, ProvenIndicesNeedNoCheck) {
  Fixture f;
  const BufferId x = f.buffer(Dtype::f32, {f.n}, BufferKind::input);
  const BufferId i64s = f.buffer(Dtype::i64, {f.n}, BufferKind::input);
  const BufferId y = f.buffer(Dtype::f32, {f.n}, BufferKind::output);
  KernelBuilder b(f.p, "k");
  const Expr i = b.outer(f.n);
  const ValueId flipped = b.bounded(b.index(f.n - 1 - i), f.n, true);
  EXPECT_EQ(b.symbol_of(flipped), f.n - 1 - i);
  const ValueId given = b.load(i64s, i);
  const ValueId checked = b.bounded(given, f.n, true);
  EXPECT_EQ(b.bounded(given, f.n, true), checked);
  EXPECT_NE(b.bounded(b.index(f.n - i), f.n, true), b.index(f.n - i));  // i = 0 is outside
  EXPECT_TRUE(b.symbol_of(checked).is_symbol());
  b.store(y, i, b.binary(ScalarOp::add, b.load(x, b.symbol_of(flipped)), b.load(x, b.symbol_of(checked))));
  f.p.items.emplace_back(b.finish());
  verify(f.p);
  int bounded = 0;
  for (const Value& v : kernel_of(f.p).values) bounded += v.op == ScalarOp::bounded;
  EXPECT_EQ(bounded, 2);  // the unused one is a check all the same
}

TEST(LoopBuilder, RefusesWrongOperands) {
  Fixture f;
  const BufferId x = f.buffer(Dtype::f32, {f.n, f.m}, BufferKind::input);
  KernelBuilder b(f.p, "k");
  const Expr i = b.outer(f.n);
  const Expr r = b.phase({f.m})[0];
  const ValueId v = b.load(x, i * f.m + r);
  EXPECT_THROW(b.binary(ScalarOp::add, v, b.constant(1, Dtype::f64)), InternalError);
  EXPECT_THROW(b.unary(ScalarOp::bit_not, v), InternalError);
  EXPECT_THROW(b.outer(f.n), InternalError);
  b.phase();
  EXPECT_THROW(b.unary(ScalarOp::neg, v), InternalError);  // of another phase
}

}  // namespace
}  // namespace stax::loop
