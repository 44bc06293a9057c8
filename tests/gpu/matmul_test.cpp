#include "../unit/runtime/matmul_helpers.h"

#include <chrono>

#include "gpu.h"
#include "runtime/cuda/can_matmul.h"

namespace stax::runtime::test {
namespace {

class GpuMatmul : public Gpu {
 protected:
  static MatmulOperand operand(const Array& x) {
    return x.defined() ? MatmulOperand{x.data(), x.strides()} : MatmulOperand{};
  }
  void run(const Product& p) {
    const Array a = moved(p.a), b = moved(p.b), bias = moved(p.bias), residual = moved(p.residual);
    std::memset(p.out.storage()->data(), 0xff, p.out.storage()->bytes());
    const Array out = moved(p.out);
    const std::size_t rank = out.sizes().size();
    MatmulArgs args;
    args.dtype = out.dtype();
    args.batch = std::span(out.sizes().data(), rank - 2);
    args.m = out.sizes()[rank - 2], args.n = out.sizes()[rank - 1], args.k = a.sizes()[rank - 1];
    args.a = operand(a), args.b = operand(b), args.out = operand(out), args.bias = operand(bias);
    args.residual = operand(residual);
    args.activation = p.activation, args.scale = p.scale;
    runtime().matmul(args);
    fetch(out, p.out);
  }
  void check(const Product& p) {
    run(p);
    expect_right(p);
  }
  Array array(std::vector<std::int64_t> sizes, std::vector<int> order = {}, std::int64_t gap = 0) {
    return random_array(std::move(sizes), dtype, rng, std::move(order), gap);
  }
  Array row_bias(std::vector<std::int64_t> sizes, std::int64_t step = 1, std::int64_t offset = 0) {
    Dims strides(sizes.size(), 0);
    strides.back() = step;
    return array({offset + 1 + std::max<std::int64_t>(step, 1) * sizes.back()})
        .with_layout(Layout{Dims(sizes.begin(), sizes.end()), strides, offset});
  }
  template <class F>
  void for_each_dtype(F&& f) {
    for (const Dtype d : {Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::f64}) {
      dtype = d;
      SCOPED_TRACE(to_text(d));
      f();
    }
  }
  Dtype dtype = Dtype::f32;
  std::mt19937 rng{11};
};

TEST_F(GpuMatmul, EveryOrderAndSize) {
  for_each_dtype([&] {
    for (const std::int64_t m : {1, 5, 64})
      for (const std::int64_t n : {1, 7, 48})
        for (const std::int64_t k : {1, 3, 33, 64})
          for (int form = 0; form < 8; ++form) {
            auto order = [&](int bit) { return form & bit ? std::vector<int>{1, 0} : std::vector<int>{0, 1}; };
            SCOPED_TRACE(fmt::format("{}x{}x{} {}", m, n, k, form));
            check({array({m, k}, order(1)), array({k, n}, order(2)), array({m, n}, order(4))});
          }
  });
}

TEST_F(GpuMatmul, LargeProducts) {
  for_each_dtype([&] {
    check({array({128, 515}), array({515, 257}, {1, 0}), array({128, 257})});
    check({array({32, 4096}), array({4096, 64}), array({32, 64})});  // split over the inner size
  });
}

TEST_F(GpuMatmul, LeadingDimensions) {
  for_each_dtype([&] {
    for (const std::int64_t gap : {1, 3, 8})
      check({array({20, 24}, {}, gap), array({24, 16}, {1, 0}, gap), array({20, 16}, {}, gap)});
  });
}

TEST_F(GpuMatmul, Batches) {
  for_each_dtype([&] {
    check({array({4, 5, 7}), array({4, 7, 6}), array({4, 5, 6})});
    check({array({2, 3, 16, 8}, {0, 2, 1, 3}), array({2, 3, 8, 16}, {0, 3, 1, 2}), array({2, 3, 16, 16})});
    check(
        {array({2, 3, 16, 8}, {0, 2, 1, 3}), array({2, 3, 8, 16}, {0, 2, 1, 3}), array({2, 3, 16, 16}, {0, 2, 1, 3})});
    const Array b = array({8, 6}).with_layout({{4, 8, 6}, {0, 6, 1}, 0});
    check({array({4, 5, 8}), b, array({4, 5, 6})});
    check({array({4, 5, 8}, {1, 0, 2}), b, array({4, 5, 6})});
    const Array a = array({5, 8}).with_layout({{4, 5, 8}, {0, 8, 1}, 0});
    check({a, array({4, 8, 6}), array({4, 5, 6})});
  });
}

TEST_F(GpuMatmul, LayoutsThatTheLibraryCannotAddress) {
  for_each_dtype([&] {
    const Array stepped = array({10, 14}).with_layout({{5, 7}, {28, 2}, 1});
    const Array reversed = array({7, 6}).with_layout({{7, 6}, {-6, -1}, 41});
    check({stepped, reversed, array({5, 6})});
    const Array repeated = array({7}).with_layout({{5, 7}, {0, 1}, 0});
    check({repeated, array({7, 6}), array({10, 12}).with_layout({{5, 6}, {24, 2}, 0})});
    const Array a = array({3, 4, 5, 14}).with_layout({{3, 4, 5, 7}, {280, 70, 14, 2}, 0});
    const Array b = array({7, 12}).with_layout({{3, 4, 7, 6}, {0, 0, 12, 2}, 0});
    check({a, b, array({3, 4, 5, 12}).with_layout({{3, 4, 5, 6}, {240, 60, 12, 2}, 0})});
  });
}

TEST_F(GpuMatmul, MisalignedAddresses) {
  for_each_dtype([&] {
    for (std::int64_t offset = 1; offset < 9; offset += 2) {
      SCOPED_TRACE(offset);
      auto shifted = [&](std::int64_t rows, std::int64_t columns) {
        return array({rows * columns + offset}).with_layout({{rows, columns}, {columns, 1}, offset});
      };
      Product p{shifted(16, 24), shifted(24, 40), shifted(16, 40)};
      check(p);
      p.bias = row_bias({16, 40}, 1, offset);
      p.residual = shifted(16, 40);
      if (dtype == Dtype::f64) p.bias = {};
      check(p);
    }
  });
}

TEST_F(GpuMatmul, EveryEpilogueThatIsClaimed) {
  for_each_dtype([&] {
    for (const auto& [m, n, k] :
         {std::tuple{9, 24, 20}, std::tuple{1, 1, 1}, std::tuple{33, 17, 5}, std::tuple{64, 128, 64}})
      for (int f = 0; f < kActivationCount; ++f)
        for (int form = 0; form < 8; ++form) {
          Product p{array({m, k}), array({k, n}, {1, 0}), array({m, n})};
          p.activation = static_cast<Activation>(f);
          if (form & 1) p.bias = row_bias({m, n});
          if (form & 2) p.residual = array({m, n});
          if (form & 4) p.scale = 0.125;
          if (!runtime().can_matmul({dtype, p.activation, p.bias.defined(), p.residual.defined()})) continue;
          SCOPED_TRACE(fmt::format("{}x{}x{} {} {}", m, n, k, to_text(p.activation), form));
          check(p);
        }
  });
}

TEST_F(GpuMatmul, BiasesAndResidualsOfEveryLayout) {
  for_each_dtype([&] {
    for (const std::int64_t step : {1, 2, 0}) {
      SCOPED_TRACE(step);
      Product p{array({3, 5, 7}), array({3, 7, 6}), array({3, 5, 6})};
      p.bias = row_bias({3, 5, 6}, step);
      if (is_half(dtype)) p.activation = Activation::gelu_tanh;
      check(p);
      p.activation = Activation::none;
      p.out = array({3, 5, 6}, {0, 2, 1});
      check(p);
      p.bias = array({3, 5, 6});
      check(p);
    }
    const Array wide = array({3, 5, 12});
    for (int form = 0; form < 4; ++form) {
      SCOPED_TRACE(form);
      Product p{array({3, 5, 7}), array({3, 7, 6}), array({3, 5, 6})};
      p.residual = form == 0   ? array({3, 5, 6}, {}, 3)
                   : form == 1 ? array({3, 5, 6}, {0, 2, 1})
                   : form == 2 ? wide.with_layout({{3, 5, 6}, {60, 12, 2}, 1})
                               : wide.with_layout({{3, 5, 6}, {0, 6, 1}, 0});
      check(p);
      if (dtype != Dtype::f64) {
        p.bias = row_bias({3, 5, 6});
        check(p);
      }
    }
  });
}

TEST_F(GpuMatmul, NothingToSumOver) {
  for_each_dtype([&] {
    for (int form = 0; form < 4; ++form) {
      SCOPED_TRACE(form);
      Product p{array({3, 5, 0}), array({3, 0, 6}), array({3, 5, 6})};
      if (form & 1) p.bias = row_bias({3, 5, 6});
      if ((form & 2) && is_half(dtype)) p.activation = Activation::gelu_tanh;
      check(p);
      p.activation = Activation::none;
      p.residual = array({3, 5, 6});
      if (dtype != Dtype::f64 || !p.bias.defined()) check(p);
    }
  });
}

// Whatever an epilogue claims, it must pass a NaN on.
TEST_F(GpuMatmul, NanPassesEveryEpilogue) {
  for_each_dtype([&] {
    for (const Activation f : {Activation::none, Activation::gelu_tanh})
      for (const bool bias : {false, true})
        for (const auto& [m, n, k] : {std::tuple{3, 20, 8}, std::tuple{64, 64, 64}, std::tuple{5, 7, 3}}) {
          Product p{array({m, k}), array({k, n}), array({m, n})};
          p.activation = f;
          if (bias) p.bias = row_bias({m, n});
          if (!runtime().can_matmul({dtype, f, bias, false})) continue;
          SCOPED_TRACE(fmt::format("{} {} {}x{}x{}", to_text(f), bias, m, n, k));
          visit_dtype(dtype, [&](auto zero) {
            using T = decltype(zero);
            if constexpr (!std::is_same_v<T, bool>) p.a.data_as<T>()[k] = T(std::nanf(""));
          });
          run(p);
          int lost = 0;
          for (std::int64_t j = 0; j < n; ++j) {
            const std::int64_t row[] = {1, j}, other[] = {0, j};
            lost += !std::isnan(read_f64(p.out, row));
            EXPECT_FALSE(std::isnan(read_f64(p.out, other)));
          }
          EXPECT_EQ(lost, 0) << "of " << n;
        }
  });
}

// The library's tanh is approximate: all values of a half type, against the function in double.
TEST_F(GpuMatmul, GeluOfEveryHalf) {
  for (const Dtype d : {Dtype::bf16, Dtype::f16}) {
    dtype = d;
    visit_dtype(d, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (sizeof(T) == 2 && std::is_class_v<T>) {
        // All 65536 values as the bias of a product of zeros.
        Product q{Array::empty({1, 8}, d), Array::empty({8, 65536}, d), Array::empty({1, 65536}, d)};
        std::memset(q.a.data(), 0, q.a.storage()->bytes());
        std::memset(q.b.data(), 0, q.b.storage()->bytes());
        q.bias = Array::empty({1, 65536}, d);
        for (int i = 0; i < 65536; ++i) q.bias.data_as<T>()[i].bits = static_cast<std::uint16_t>(i);
        q.activation = Activation::gelu_tanh;
        run(q);
        double worst_absolute = 0, worst_relative = 0;
        for (std::int64_t i = 0; i < 65536; ++i) {
          const std::int64_t at[] = {0, i};
          const double x = read_f64(q.bias, at), got = read_f64(q.out, at);
          if (std::isnan(x)) {
            EXPECT_TRUE(std::isnan(got)) << i;
            continue;
          }
          if (std::isinf(x)) continue;
          const double want = reference_activation(Activation::gelu_tanh, x);
          const double rounded = static_cast<double>(static_cast<float>(T(static_cast<float>(want))));
          if (std::isinf(rounded)) continue;
          worst_absolute = std::max(worst_absolute, x < 1 ? std::abs(got - rounded) : 0);
          if (std::abs(x) < 3)
            worst_relative = std::max(worst_relative, std::abs(got - rounded) / std::max(1e-7, std::abs(rounded)));
        }
        fmt::print("gelu_tanh of {}: worst error {:.2g} below 1, relative {:.2g} within 3\n", to_text(d),
                   worst_absolute, worst_relative);
        EXPECT_LT(worst_relative, d == Dtype::bf16 ? 0.02 : 0.01);
        EXPECT_LT(worst_absolute, d == Dtype::bf16 ? 2e-3 : 1e-3);
      }
    });
  }
}

// A product of one factor shows what is kept of f32.
TEST_F(GpuMatmul, Tf32OnlyWhenAllowed) {
  Product p{Array::empty({64, 64}, Dtype::f32), Array::empty({64, 64}, Dtype::f32), Array::empty({64, 64}, Dtype::f32)};
  std::fill_n(p.a.data_as<float>(), 64 * 64, 0.f);
  std::fill_n(p.b.data_as<float>(), 64 * 64, 0.f);
  for (int i = 0; i < 64; ++i) p.a.data_as<float>()[65 * i] = 1 + 0x1p-20f, p.b.data_as<float>()[65 * i] = 1;
  runtime().products().allow_tf32(false);
  run(p);
  EXPECT_EQ(p.out.data_as<float>()[0], 1 + 0x1p-20f);
  runtime().products().allow_tf32(true);
  run(p);
  EXPECT_EQ(p.out.data_as<float>()[0], 1);
  runtime().products().allow_tf32(false);
}

// Sums whose partial sums would lose everything in the half type.
TEST_F(GpuMatmul, HalfTypesAreRoundedOnce) {
  for (const Dtype d : {Dtype::bf16, Dtype::f16}) {
    dtype = d;
    for (const std::int64_t k : {64, 4096, 20000}) {
      Product p{array({8, k}), array({k, 8}), array({8, 8})};
      visit_dtype(dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (!std::is_same_v<T, bool>)
          for (std::int64_t i = 0; i < 8 * k; ++i) p.a.data_as<T>()[i] = T(1.f), p.b.data_as<T>()[i] = T(0.0625f);
      });
      run(p);
      const std::int64_t at[] = {3, 4};
      EXPECT_EQ(read_f64(p.out, at),
                visit_dtype(dtype,
                            [&](auto zero) {
                              using T = decltype(zero);
                              if constexpr (std::is_same_v<T, bool>)
                                return 0.0;
                              else
                                return static_cast<double>(static_cast<float>(T(static_cast<float>(k) / 16)));
                            }))
          << k;
    }
  }
}

TEST_F(GpuMatmul, CapturedProductsAreReplayed) {
  Product p{array({64, 32}), array({32, 16}), array({64, 16})};
  check(p);
  const Array a = moved(p.a), b = moved(p.b), out = moved(p.out);
  MatmulArgs args;
  args.m = 64, args.n = 16, args.k = 32;
  args.a = operand(a), args.b = operand(b), args.out = operand(out);
  const auto graph = runtime().capture([&] { runtime().matmul(args); });
  std::memset(p.out.data(), 0, p.out.storage()->bytes());
  runtime().upload(out.data(), p.out.data(), p.out.storage()->bytes());
  graph->replay();
  fetch(out, p.out);
  expect_right(p);
}

// Host time of the library's own call.
double raw_call_us(CudaRuntime& runtime, const MatmulArgs& args) {
  const CublasLt& lt = cublas_lt();
  lt::Handle handle = nullptr;
  lt::MatmulDesc desc = nullptr;
  lt::Layout layout = nullptr;
  lt::Preference preference = nullptr;
  lt.create(&handle);
  lt.desc_create(&desc, lt::kCompute32F, lt::kR32F);
  lt.layout_create(&layout, lt::kR16BF, 64, 64, 64);
  lt.preference_create(&preference);
  lt::Heuristic best{};
  int found = 0;
  lt.heuristic(handle, desc, layout, layout, layout, layout, preference, 1, &best, &found);
  const float one = 1, zero = 0;
  const CudaContext& context = runtime.context();
  double fastest = 1e9;
  for (int round = 0; round < 20; ++round) {
    runtime.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i)
      lt.matmul(handle, desc, &one, args.a.data, layout, args.b.data, layout, &zero, args.out.data, layout,
                args.out.data, layout, &best.algorithm, nullptr, 0, context.stream());
    fastest = std::min(
        fastest, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / 200);
  }
  lt.preference_destroy(preference);
  lt.layout_destroy(layout);
  lt.desc_destroy(desc);
  lt.destroy(handle);
  return fastest;
}

// Host time of a warm call, and speed of a large product.
TEST_F(GpuMatmul, HostTimeOfACall) {
  dtype = Dtype::bf16;
  const Array a = moved(array({64, 64})), b = moved(array({64, 64})), out = moved(array({64, 64}));
  MatmulArgs args;
  args.dtype = dtype;
  args.m = args.n = args.k = 64;
  args.a = operand(a), args.b = operand(b), args.out = operand(out);
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    runtime().synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i) runtime().matmul(args);
    best = std::min(best,
                    std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / 200);
  }
  fmt::print("product of 64x64x64: {:.2f} us of host time, cuBLASLt {} alone {:.2f} us\n", best,
             cublas_lt().version_text(), raw_call_us(runtime(), args));
  EXPECT_LT(best, 20);
  const std::int64_t n = 8192;
  const Array x = moved(array({n, n})), y = moved(array({n, n})), z = moved(array({n, n}));
  args.m = args.n = args.k = n;
  args.a = operand(x), args.b = operand(y), args.out = operand(z);
  runtime().matmul(args);
  CudaEvent begin(runtime().context()), end(runtime().context());
  begin.record();
  for (int i = 0; i < 10; ++i) runtime().matmul(args);
  end.record();
  end.wait();
  fmt::print("product of 8192x8192x8192 bf16: {:.0f} TFLOP/s\n",
             10 * 2e-9 * double(n) * n * n / end.milliseconds_since(begin));
}

}  // namespace
}  // namespace stax::runtime::test
