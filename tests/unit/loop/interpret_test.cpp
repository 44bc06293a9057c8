// The meaning of kernels, on small examples.
#include "support.h"

namespace stax::loop {
namespace {

TEST(LoopInterpret, ReluTimesTwoRowSum) {
  const Program p = program_of(R"(
    sizes s0, s1
    buffer x: f32[s0, s1] input
    buffer y: f32[s0, s1] input
    buffer z: f32[s0] output
    kernel red outer (i0 < s0) {
      phase (r0 < s1) {
        %0 = load x[s1*i0 + r0]
        %1 = load y[s1*i0 + r0]
        %2 = add %0 %1
        %3 = constant.f32 0.0
        %4 = max %2 %3
        %5 = constant.f32 2.0
        %6 = mul %4 %5
        %7 = combine sum %6
      }
      phase { store z[i0] %7 }
    }
    return z
  )");
  const auto out = run(p, {2, 3}, {array_of({2, 3}, {1, 2, 3, -4, -5, 6}), array_of({2, 3}, {1, 1, 1, 1, kNan, 1})});
  expect_same(values_of(out[0]), {18, kNan});
  expect_same(values_of(run(p, {2, 0}, {array_of({2, 0}, {}), array_of({2, 0}, {})})[0]), {0, 0});
  EXPECT_TRUE(values_of(run(p, {0, 3}, {array_of({0, 3}, {}), array_of({0, 3}, {})})[0]).empty());
}

TEST(LoopInterpret, SoftmaxOfARowOfMinusInfinityIsNan) {
  const Program p = program_of(R"(
    sizes s0, s1
    buffer x: f32[s0, s1] input
    buffer z: f32[s0, s1] output
    kernel softmax outer (i0 < s0) {
      phase (r0 < s1) {
        %0 = load x[s1*i0 + r0]
        %1 = combine online_softmax %0
        %2 = part %1 1
      }
      phase (r1 < s1) {
        %3 = load x[s1*i0 + r1]
        %4 = sub %3 %1
        %5 = exp %4
        %6 = div %5 %2
        store z[s1*i0 + r1] %6
      }
    }
    return z
  )");
  const auto out = run(p, {3, 2}, {array_of({3, 2}, {0, 0, -kInf, -kInf, -kInf, 5})});
  expect_same(values_of(out[0]), {0.5F, 0.5F, kNan, kNan, 0, 1});
}

TEST(LoopInterpret, ArgmaxFindsTheFirstNanElseTheFirstMaximum) {
  const Program p = program_of(R"(
    sizes s0, s1
    buffer x: f32[s0, s1] input
    buffer v: f32[s0] output
    buffer i: i64[s0] output
    kernel argmax outer (i0 < s0) {
      phase (r0 < s1) {
        %0 = load x[s1*i0 + r0]
        %1 = index [r0]
        %2 = combine argmax %0 %1
        %3 = part %2 1
      }
      phase { store v[i0] %2 store i[i0] %3 }
    }
    return v
    return i
  )");
  const auto out = run(p, {3, 4}, {array_of({3, 4}, {1, 7, 7, 2, 1, kNan, 9, kNan, -kInf, -kInf, -kInf, -kInf})});
  expect_same(values_of(out[0]), {7, kNan, -kInf});
  EXPECT_EQ(values_of<std::int64_t>(out[1]), (std::vector<std::int64_t>{1, 1, 0}));
}

TEST(LoopInterpret, WelfordAndMergedTuples) {
  const Program p = program_of(R"(
    sizes n
    buffer x: f32[n, 4] input
    buffer mean: f32[n]
    buffer m2: f32[n]
    buffer count: f32[n]
    buffer out: f32[3] output
    kernel rows outer (i0 < n) {
      phase (r0 < 4) {
        %0 = load x[4*i0 + r0]
        %1 = combine welford %0
        %2 = part %1 1
        %3 = part %1 2
      }
      phase { store mean[i0] %1 store m2[i0] %2 store count[i0] %3 }
    }
    kernel merge {
      phase (r0 < n) {
        %0 = load mean[r0]
        %1 = load m2[r0]
        %2 = load count[r0]
        %3 = combine welford %0 %1 %2
      }
      phase {
        %4 = part %3 1
        %5 = part %3 2
        store out[0] %3
        store out[1] %4
        store out[2] %5
      }
    }
    return out
  )");
  expect_same(values_of(run(p, {2}, {array_of({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})})[0]), {3.5F, 42, 8});
}

TEST(LoopInterpret, ScansRunBothWays) {
  const Program p = program_of(R"(
    sizes n
    buffer x: i32[n] input
    buffer a: i32[n] output
    buffer b: i32[n] output
    kernel forward { phase (r0 < n) { %0 = load x[r0]  %1 = scan sum %0  store a[r0] %1 } }
    kernel backward { phase (r0 < n) { %0 = load x[r0]  %1 = scan max %0 reverse  store b[r0] %1 } }
    return a
    return b
  )");
  const auto out = run(p, {4}, {array_of<std::int32_t>({4}, {3, 1, 2, 1})});
  EXPECT_EQ(values_of<std::int64_t>(out[0]), (std::vector<std::int64_t>{3, 4, 6, 7}));
  EXPECT_EQ(values_of<std::int64_t>(out[1]), (std::vector<std::int64_t>{3, 2, 2, 1}));
}

constexpr std::string_view kGather = R"(
    sizes n, m
    buffer table: f32[n] input
    buffer index: i64[m] input
    buffer out: f32[m] output
    kernel gather outer (i0 < m) {
      phase {
        %0 = load index[i0]
        %1 = bounded %0 in [0, n) as j0 wraps @0
        %2 = load table[j0]
        store out[i0] %2
      }
    }
    return out
    origin @0 get at "main.cpp":12
  )";

TEST(LoopInterpret, IndicesWrapOnceAndAreChecked) {
  const Program p = program_of(kGather);
  const Array table = array_of({3}, {10, 20, 30});
  expect_same(values_of(run(p, {3, 3}, {table, array_of<std::int64_t>({3}, {2, -1, -3})})[0]), {30, 30, 10});
  try {
    run(p, {3, 2}, {table, array_of<std::int64_t>({2}, {0, -4})});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.problem(), "get: index -4 is out of range [-3, 3)");
    EXPECT_EQ(e.where(), SourceLoc("main.cpp", 12));
  }
}

TEST(LoopInterpret, IntegersWrapAndDivideByZeroIsAnError) {
  const Program p = program_of(R"(
    sizes n
    buffer x: i8[n] input
    buffer y: i8[n] input
    buffer q: i8[n] output
    buffer m: i8[n] output
    buffer t: i8[n] output
    buffer s: i8[n] output
    kernel k outer (i0 < n) {
      phase {
        %0 = load x[i0]
        %1 = load y[i0]
        %2 = floor_div %0 %1 @0
        %3 = floor_mod %0 %1
        %4 = trunc_div %0 %1
        %5 = add %0 %1
        store q[i0] %2
        store m[i0] %3
        store t[i0] %4
        store s[i0] %5
      }
    }
    return q
    return m
    return t
    return s
    origin @0 floor_div at "a.cpp":3
  )");
  const auto x = array_of<std::int8_t>({4}, {-7, 7, -128, 127});
  const auto out = run(p, {4}, {x, array_of<std::int8_t>({4}, {2, -2, -1, 1})});
  using V = std::vector<std::int64_t>;
  EXPECT_EQ(values_of<std::int64_t>(out[0]), (V{-4, -4, -128, 127}));
  EXPECT_EQ(values_of<std::int64_t>(out[1]), (V{1, -1, 0, 0}));
  EXPECT_EQ(values_of<std::int64_t>(out[2]), (V{-3, -3, -128, 127}));
  EXPECT_EQ(values_of<std::int64_t>(out[3]), (V{-5, 5, 127, -128}));
  try {
    run(p, {4}, {x, array_of<std::int8_t>({4}, {1, 1, 0, 1})});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.problem(), "floor_div: integer division by zero");
    EXPECT_EQ(e.where(), SourceLoc("a.cpp", 3));
  }
}

TEST(LoopInterpret, HalfTypesRoundOnceAtTheStore) {
  const Program p = program_of(R"(
    buffer x: f16[2] input
    buffer y: f16[2] output
    buffer z: f32[2] output
    kernel k outer (i0 < 2) {
      phase {
        %0 = load x[i0]
        %1 = constant.f32 0.0001
        %2 = add %0 %1
        %3 = sub %2 %0
        %4 = round_to bf16 %2
        store y[i0] %3
        store z[i0] %4
      }
    }
    return y
    return z
  )");
  Array x = cast_copy(array_of({2}, {1, 65504}), Dtype::f16);
  const auto out = run(p, {}, {x});
  EXPECT_NEAR(values_of(out[0])[0], 0.0001, 1e-6);  // f32 inside
  expect_same(values_of(out[1]), {1, 65536});
}

TEST(LoopInterpret, OutOfBoundsAddressIsOurFault) {
  Program p = program_of(R"(
    sizes n
    buffer x: f32[n] input
    buffer y: f32[n] output
    kernel k outer (i0 < n) { phase { %0 = load x[3*i0]  store y[i0] %0 } }
    return y
  )");
  EXPECT_THROW(run(p, {4}, {array_of({4}, {1, 2, 3, 4})}), InternalError);
  expect_same(values_of(run(p, {1}, {array_of({1}, {1})})[0]), {1});
}

TEST(LoopInterpret, WrittenInputsAreWritten) {
  const Program p = program_of(R"(
    sizes n
    buffer x: f32[n] input written
    kernel k outer (i0 < n) { phase { %0 = load x[i0]  %1 = neg %0  store x[i0] %1 } }
    return x
  )");
  const Array x = array_of({2}, {1, -0.0F});
  const auto out = run(p, {2}, {x});
  expect_same(values_of(x), {-1, 0});
  EXPECT_EQ(out[0].storage(), x.storage());
}

TEST(LoopInterpret, LibraryCall) {
  const Program p = program_of(R"(
    sizes m, k, n
    buffer a: f32[m, k] input
    buffer b: f32[n, k] input
    buffer bias: f32[n] input
    buffer out: f32[m, n] output
    call matmul_bias_relu {
      a a
      b b [k, n] strides (1, k)
      out out
      bias bias [m, n] strides (0, 1)
      activation relu
      scale 2
    }
    return out
  )");
  const Array a = array_of({2, 2}, {1, 2, 3, 4}), b = array_of({1, 2}, {1, -1}), bias = array_of({1}, {3});
  expect_same(values_of(run(p, {2, 2, 1}, {a, b, bias})[0]), {1, 1});
  expect_same(values_of(run(p, {2, 0, 1}, {array_of({2, 0}, {}), array_of({1, 0}, {}), bias})[0]), {3, 3});
}

TEST(LoopInterpret, ManyUnitsAndScalars) {
  const Program p = program_of(R"(
    sizes n
    buffer y: f32[n, 7] output
    scalar c0: f64 "alpha"
    scalar c1: i64 "len" = 2*n
    kernel k outer (i0 < n, i1 < 7) {
      phase {
        %0 = scalar.f32 c0
        %1 = index [7*i0 + i1]
        %2 = cast.f32 %1
        %3 = mul %0 %2
        %4 = scalar.f32 c1
        %5 = add %3 %4
        store y[7*i0 + i1] %5
      }
    }
    return y
  )");
  const auto out = values_of(run(p, {1000}, {}, {0.5})[0]);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 0.5F * static_cast<float>(i) + 2000);
}

}  // namespace
}  // namespace stax::loop
