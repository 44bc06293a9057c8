#include "fake_cuda.h"
#include "matmul_helpers.h"

namespace stax::runtime::test {
namespace {

// Products on the device, compared with the reference on the host. The result's memory holds NaN before.
class CudaMatmulTest : public FakeCuda {
 protected:
  struct Uploaded {
    Array host, device;
  };
  // The whole storage behind the view goes over.
  Array moved(const Array& a) {
    if (!a.defined()) return a;
    auto storage = std::make_shared<Storage>(runtime().allocator(), a.storage()->bytes(), runtime().device());
    runtime().upload(storage->data(), a.storage()->data(), a.storage()->bytes());
    return Array(std::move(storage), a.dtype(), a.layout());
  }
  void run(const Product& p) {
    visit_dtype(p.out.dtype(), [&](auto zero) {
      using T = decltype(zero);
      auto* data = static_cast<T*>(p.out.storage()->data());
      if constexpr (!std::is_same_v<T, bool>)
        for (std::size_t i = 0; i < p.out.storage()->bytes() / sizeof(T); ++i) data[i] = T(std::nanf(""));
    });
    const Array a = moved(p.a), b = moved(p.b), out = moved(p.out), bias = moved(p.bias), residual = moved(p.residual);
    const std::size_t rank = out.sizes().size();
    MatmulArgs args;
    args.dtype = out.dtype();
    args.batch = std::span(out.sizes().data(), rank - 2);
    args.m = out.sizes()[rank - 2], args.n = out.sizes()[rank - 1], args.k = a.sizes()[rank - 1];
    auto operand = [](const Array& x) { return x.defined() ? MatmulOperand{x.data(), x.strides()} : MatmulOperand{}; };
    args.a = operand(a), args.b = operand(b), args.out = operand(out), args.bias = operand(bias);
    args.residual = operand(residual);
    args.activation = p.activation, args.scale = p.scale;
    runtime().matmul(args);
    runtime().download(p.out.storage()->data(), out.storage()->data(), out.storage()->bytes());
  }
  void check(const Product& p) {
    run(p);
    expect_right(p);
  }
  std::uint64_t copies() { return runtime().products().stats().copies; }

  std::mt19937 rng{11};
};

constexpr Dtype kDtypes[] = {Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::f64};

TEST_F(CudaMatmulTest, EveryOrderOfTheOperandsWithoutACopy) {
  for (const Dtype dtype : kDtypes)
    for (int form = 0; form < 8; ++form) {
      auto order = [&](int bit) { return form & bit ? std::vector<int>{1, 0} : std::vector<int>{0, 1}; };
      SCOPED_TRACE(std::string(to_text(dtype)) + " " + std::to_string(form));
      check({random_array({5, 7}, dtype, rng, order(1)), random_array({7, 6}, dtype, rng, order(2)),
             random_array({5, 6}, dtype, rng, order(4))});
    }
  EXPECT_EQ(copies(), 0u);
}

TEST_F(CudaMatmulTest, LeadingDimensionsWithoutACopy) {
  check({random_array({5, 7}, Dtype::f32, rng, {}, 3), random_array({7, 6}, Dtype::f32, rng, {1, 0}, 2),
         random_array({5, 6}, Dtype::f32, rng, {}, 4)});
  EXPECT_EQ(copies(), 0u);
}

TEST_F(CudaMatmulTest, SizesOfOne) {
  for (int form = 0; form < 8; ++form)
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
      const std::int64_t m = form & 1 ? 1 : 3, n = form & 2 ? 1 : 5, k = form & 4 ? 1 : 4;
      SCOPED_TRACE(std::to_string(form));
      check({random_array({m, k}, dtype, rng), random_array({k, n}, dtype, rng, {1, 0}),
             random_array({m, n}, dtype, rng)});
    }
}

TEST_F(CudaMatmulTest, BatchesGoToTheLibrary) {
  check({random_array({4, 5, 7}, Dtype::f32, rng), random_array({4, 7, 6}, Dtype::f32, rng),
         random_array({4, 5, 6}, Dtype::f32, rng)});
  EXPECT_EQ(fake_counts().matmuls, 1u);
  // Heads inside the rows: two batch dimensions that do not merge.
  check({random_array({2, 3, 5, 7}, Dtype::f32, rng, {0, 2, 1, 3}),
         random_array({2, 3, 7, 6}, Dtype::f32, rng, {0, 3, 1, 2}), random_array({2, 3, 5, 6}, Dtype::f32, rng)});
  EXPECT_EQ(fake_counts().matmuls, 1u + 2u) << "the larger of the two in one call";
  EXPECT_EQ(copies(), 0u);
}

TEST_F(CudaMatmulTest, BroadcastBatches) {
  const Array b = random_array({7, 6}, Dtype::f32, rng);
  const Array spread = b.with_layout({{4, 7, 6}, {0, 6, 1}, 0});
  check({random_array({4, 5, 7}, Dtype::f32, rng), spread, random_array({4, 5, 6}, Dtype::f32, rng)});
  EXPECT_EQ(fake_counts().matmuls, 1u) << "rows of one product";
  check({random_array({4, 5, 7}, Dtype::f32, rng, {1, 0, 2}), spread, random_array({4, 5, 6}, Dtype::f32, rng)});
  const Array a = random_array({5, 7}, Dtype::f32, rng).with_layout({{4, 5, 7}, {0, 7, 1}, 0});
  check({a, random_array({4, 7, 6}, Dtype::f32, rng), random_array({4, 5, 6}, Dtype::f32, rng)});
  EXPECT_EQ(copies(), 0u);
}

TEST_F(CudaMatmulTest, LayoutsThatTheLibraryCannotAddress) {
  for (const Dtype dtype : kDtypes) {
    SCOPED_TRACE(to_text(dtype));
    const Array wide = random_array({10, 14}, dtype, rng);
    const Array stepped = wide.with_layout({{5, 7}, {28, 2}, 1});
    const Array reversed = random_array({7, 6}, dtype, rng).with_layout({{7, 6}, {-6, -1}, 41});
    check({stepped, reversed, random_array({5, 6}, dtype, rng)});
    const Array repeated = random_array({7}, dtype, rng).with_layout({{5, 7}, {0, 1}, 0});
    check({repeated, random_array({7, 6}, dtype, rng),
           random_array({10, 12}, dtype, rng).with_layout({{5, 6}, {24, 2}, 0})});
    const Array windows = random_array({11}, dtype, rng).with_layout({{5, 7}, {1, 1}, 0});
    check({windows, random_array({7, 6}, dtype, rng), random_array({5, 6}, dtype, rng)});
  }
  EXPECT_GT(copies(), 0u);
}

TEST_F(CudaMatmulTest, BatchesOfWhatCannotBeAddressed) {
  const Array a = random_array({3, 4, 5, 14}, Dtype::f32, rng).with_layout({{3, 4, 5, 7}, {280, 70, 14, 2}, 0});
  const Array b = random_array({7, 12}, Dtype::f32, rng).with_layout({{3, 4, 7, 6}, {0, 0, 12, 2}, 0});
  check({a, b,
         random_array({3, 4, 10, 6}, Dtype::f32, rng, {1, 0, 2, 3}).with_layout({{3, 4, 5, 6}, {60, 180, 12, 1}, 0})});
  const Array out = random_array({3, 4, 5, 12}, Dtype::f32, rng).with_layout({{3, 4, 5, 6}, {240, 60, 12, 2}, 0});
  check({a, b, out});
}

Array row_bias(std::vector<std::int64_t> sizes, Dtype dtype, std::mt19937& rng, std::int64_t step = 1) {
  Dims strides(sizes.size(), 0);
  strides.back() = step;
  const Array memory = random_array({1 + std::max<std::int64_t>(step, 1) * sizes.back()}, dtype, rng);
  return memory.with_layout(Layout{Dims(sizes.begin(), sizes.end()), strides, 0});
}

TEST_F(CudaMatmulTest, EveryEpilogueThatIsClaimed) {
  for (const Dtype dtype : kDtypes)
    for (int f = 0; f < kActivationCount; ++f)
      for (int form = 0; form < 8; ++form) {
        Product p{random_array({9, 20}, dtype, rng), random_array({20, 24}, dtype, rng),
                  random_array({9, 24}, dtype, rng)};
        p.activation = static_cast<Activation>(f);
        if (form & 1) p.bias = row_bias({9, 24}, dtype, rng);
        if (form & 2) p.residual = random_array({9, 24}, dtype, rng);
        if (form & 4) p.scale = 0.125;
        const MatmulKind kind{dtype, p.activation, p.bias.defined(), p.residual.defined()};
        if (!runtime().can_matmul(kind)) continue;
        SCOPED_TRACE(std::string(to_text(dtype)) + " " + std::string(to_text(p.activation)) + " " +
                     std::to_string(form));
        check(p);
      }
}

TEST_F(CudaMatmulTest, BiasesOfEveryLayout) {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f64})
    for (const std::int64_t step : {1, 2, 0}) {
      SCOPED_TRACE(std::string(to_text(dtype)) + " " + std::to_string(step));
      Product p{random_array({3, 5, 7}, dtype, rng), random_array({3, 7, 6}, dtype, rng),
                random_array({3, 5, 6}, dtype, rng)};
      p.bias = row_bias({3, 5, 6}, dtype, rng, step);
      if (dtype != Dtype::f64) p.activation = Activation::gelu_tanh;
      check(p);
      if (dtype != Dtype::f64) {
        p.activation = Activation::none;
        p.residual = random_array({3, 5, 6}, dtype, rng, {0, 2, 1});
        check(p);
        p.residual = {};
      }
      p.out = random_array({3, 5, 6}, dtype, rng, {0, 2, 1});  // column-major
      check(p);
      p.bias = random_array({3, 5, 6}, dtype, rng);
      check(p);
      p.bias = row_bias({3, 5, 6}, dtype, rng, 1);
      p.bias = p.bias.with_layout({{3, 5, 6}, {0, 0, 1}, 1});  // not aligned to 16 bytes
      check(p);
    }
}

TEST_F(CudaMatmulTest, ResidualsOfEveryLayout) {
  for (const Dtype dtype : kDtypes)
    for (int form = 0; form < 4; ++form) {
      SCOPED_TRACE(std::string(to_text(dtype)) + " " + std::to_string(form));
      Product p{random_array({2, 5, 7}, dtype, rng), random_array({2, 7, 6}, dtype, rng),
                random_array({2, 5, 6}, dtype, rng)};
      const Array wide = random_array({2, 5, 12}, dtype, rng);
      p.residual = form == 0   ? random_array({2, 5, 6}, dtype, rng, {}, 3)
                   : form == 1 ? random_array({2, 5, 6}, dtype, rng, {0, 2, 1})
                   : form == 2 ? wide.with_layout({{2, 5, 6}, {60, 12, 2}, 1})
                               : wide.with_layout({{2, 5, 6}, {0, 0, 1}, 0});
      check(p);
    }
}

TEST_F(CudaMatmulTest, NothingToSumOver) {
  for (const Dtype dtype : kDtypes)
    for (int form = 0; form < 4; ++form) {
      SCOPED_TRACE(std::string(to_text(dtype)) + " " + std::to_string(form));
      Product p{random_array({3, 5, 0}, dtype, rng), random_array({3, 0, 6}, dtype, rng),
                random_array({3, 5, 6}, dtype, rng)};
      if (form & 1) p.bias = row_bias({3, 5, 6}, dtype, rng);
      if ((form & 2) && dtype != Dtype::f64) p.activation = Activation::gelu_tanh;
      if (form == 2 && dtype == Dtype::f64) p.residual = random_array({3, 5, 6}, dtype, rng);
      check(p);
    }
}

TEST_F(CudaMatmulTest, EmptyResults) {
  for (int form = 1; form < 8; ++form) {
    const std::int64_t batch = form & 1 ? 0 : 2, m = form & 2 ? 0 : 3, n = form & 4 ? 0 : 4;
    run({random_array({batch, m, 5}, Dtype::f32, rng), random_array({batch, 5, n}, Dtype::f32, rng),
         random_array({batch, m, n}, Dtype::f32, rng)});
  }
  EXPECT_EQ(fake_counts().matmuls, 0u);
}

TEST_F(CudaMatmulTest, EqualProblemsAreSearchedOnce) {
  for (int i = 0; i < 5; ++i)
    check({random_array({5, 7}, Dtype::f32, rng), random_array({7, 6}, Dtype::f32, rng),
           random_array({5, 6}, Dtype::f32, rng)});
  EXPECT_EQ(runtime().products().stats().searches, 1u);
  runtime().products().allow_tf32(true);
  check({random_array({5, 7}, Dtype::f32, rng), random_array({7, 6}, Dtype::f32, rng),
         random_array({5, 6}, Dtype::f32, rng)});
  EXPECT_EQ(runtime().products().stats().searches, 2u) << "another precision is another problem";
}

TEST_F(CudaMatmulTest, WhatIsNotClaimedIsAnInternalError) {
  Product p{random_array({5, 7}, Dtype::f32, rng), random_array({7, 6}, Dtype::f32, rng),
            random_array({5, 6}, Dtype::f32, rng)};
  p.activation = Activation::silu;
  EXPECT_EQ(message_of([&] { run(p); }), "cuBLASLt has no epilogue silu for f32");
}

TEST_F(CudaMatmulTest, CapturedProductsAreReplayed) {
  Product p{random_array({5, 7}, Dtype::f32, rng), random_array({7, 6}, Dtype::f32, rng),
            random_array({5, 6}, Dtype::f32, rng)};
  check(p);
  const Array a = moved(p.a), b = moved(p.b), out = moved(p.out);
  MatmulArgs args;
  args.m = 5, args.n = 6, args.k = 7;
  args.a = {a.data(), a.strides()}, args.b = {b.data(), b.strides()}, args.out = {out.data(), out.strides()};
  const auto graph = runtime().capture([&] { runtime().matmul(args); });
  const Array zero = Array::empty({5, 6}, Dtype::f32);
  std::fill_n(zero.data_as<float>(), 30, 0.f);
  runtime().upload(out.data(), zero.data(), 120);
  graph->replay();
  runtime().download(p.out.data(), out.data(), 120);
  expect_right(p);
}

}  // namespace
}  // namespace stax::runtime::test
