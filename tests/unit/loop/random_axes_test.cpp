// Merging and reordering of axes and common values keep the results of random kernels.
#include "random_program.h"

namespace stax::loop {
namespace {

// Outer axes, a reduction or scan over inner axes, and a pointwise rest.
void build(RandomProgram& r) {
  const Dtype t = r.chance(50) ? Dtype::f32 : Dtype::i64;
  const auto extents = [&](std::int64_t n) {
    std::vector<Expr> e;
    for (std::int64_t i = 0; i < n; ++i) e.push_back(r.extent());
    return e;
  };
  const std::vector<Expr> outer = extents(r.pick(1, 3)), inner = extents(r.pick(1, 2));
  std::vector<Expr> all = outer;
  all.insert(all.end(), inner.begin(), inner.end());
  const BufferId wide = r.buffer(t, all, BufferKind::input), narrow = r.buffer(t, outer, BufferKind::input);
  const BufferId result = r.buffer(t, outer, BufferKind::output), full = r.buffer(t, all, BufferKind::output);
  KernelBuilder b(r.p, "k");
  const auto i = b.outer(outer);
  const auto load = [&](const std::vector<Expr>& axes) {
    std::vector<Expr> index = i;
    for (std::size_t d = 0; d < axes.size(); ++d) index.push_back(r.chance(20) ? inner[d] - 1 - axes[d] : axes[d]);
    return b.load(wide, r.address(wide, index));
  };
  const auto phase = b.phase(inner);
  std::vector<ValueId> values{load(phase), load(phase), b.load(narrow, r.address(narrow, i))};
  values.push_back(b.cast(b.index(r.chance(50) ? phase.back() : r.address(full, {}) + i[0]), t));
  const ValueId element = r.expression(b, values);
  static constexpr CombineOp kOps[] = {CombineOp::sum, CombineOp::max, CombineOp::min, CombineOp::argmax};
  const CombineOp op = kOps[r.pick(0, 3)];
  std::vector<ValueId> operands{element};
  if (op == CombineOp::argmax) {
    Expr flat = phase[0];
    for (std::size_t d = 1; d < phase.size(); ++d) flat = flat * inner[d] + phase[d];
    operands.push_back(b.index(flat));
  }
  const ValueId total = b.combine(op, operands, t);
  b.phase();
  const ValueId unit = r.expression(b, {total, b.load(narrow, r.address(narrow, i))});
  b.store(result, r.address(result, i), unit);
  const auto again = b.phase(inner);
  std::vector<Expr> index = i;
  index.insert(index.end(), again.begin(), again.end());
  b.store(full, r.address(full, index), r.expression(b, {unit, total, load(again), load(again)}));
  r.p.items.emplace_back(b.finish());
  r.p.outputs = {r.whole(result), r.whole(full)};
}

TEST(LoopRandom, MergeReorderAndCommonValuesKeepResults) {
  int merged = 0, reordered = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    RandomProgram r(seed);
    build(r);
    verify(r.p);
    const std::string before = fmt::format("seed {}\n{}", seed, to_text(r.p));
    const auto wanted = r.run();
    Kernel& k = kernel_of(r.p);
    const std::size_t axes = k.outer.size();
    merge_axes(r.p, k);
    merged += k.outer.size() < axes;
    verify(r.p);
    expect_equal_outputs(r.run(), wanted, before + to_text(r.p));
    reordered += reorder_outer_axes(r.p, k);
    eliminate_common_values(k);
    verify(r.p);
    expect_equal_outputs(r.run(), wanted, before + to_text(r.p));
    // The text says the same.
    const std::string text = to_text(r.p);
    ASSERT_EQ(to_text(parse_program(text)), text) << before;
  }
  EXPECT_GT(merged, 250);
  EXPECT_GT(reordered, 50);
}

TEST(LoopRandom, CanonicalKernelsComputeTheSame) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    RandomProgram r(seed);
    build(r);
    const Canonical c = canonicalize(r.p, kernel_of(r.p));
    verify(c.program);
    ASSERT_EQ(to_text(parse_program(to_text(c.program))), to_text(c.program));
    const Canonical again = canonicalize(c.program, std::get<Kernel>(c.program.items[0]));
    ASSERT_EQ(to_text(again.program), to_text(c.program)) << to_text(r.p);
  }
}

}  // namespace
}  // namespace stax::loop
