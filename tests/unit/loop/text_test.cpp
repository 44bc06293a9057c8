// The text form reads back to itself.
#include "support.h"

namespace stax::loop {
namespace {

constexpr std::string_view kEverything = R"(program everything
sizes s0 in [2, 1000] hint 64, s1 in [0, inf] multiple 4 hint 128, s2 in [-inf, inf]
facts s2 <= 10
buffer b0: f32[s0, s1] strides (s1, 1) input 0 written
buffer b1: bf16[s0] strides (1)
buffer b2: i64[s0] strides (1) input 1
buffer out: f32[s0, s1] strides (s1, 1) output
buffer flags: boolean[s0] strides (1) output
scalar c0: f64 "alpha"
scalar c1: i64 "seed"
kernel softmax_like outer (i0 < s0) {
  phase (r1 < s1) {
    %0 = load.f32 b0[i0*s1 + r1]  @0
    %1 = combine.f32 online_softmax %0  @1
    %2 = part.f32 %1 1
  }
  phase (r2 < s1) {
    %3 = load.f32 b0[i0*s1 + r2]
    %4 = sub.f32 %3 %1
    %5 = exp.f32 %4
    %6 = div.f32 %5 %2
    %7 = scalar.f32 c0
    %8 = mul.f32 %6 %7
    %9 = random.f32 uniform c1 [i0*s1 + r2]
    %10 = lt %9 %8
    %11 = constant.f32 nan
    %12 = select.f32 %10 %8 %11
    store out[i0*s1 + r2] %12
  }
  phase {
    %13 = load.i64 b2[i0]
    %14 = bounded.i64 %13 in [0, s0) as j0 wraps
    %15 = load.f32 b1[j0]
    %16 = round_to.f32 bf16 %15
    %17 = index.i64 [j0 + 3]
    %18 = cast.f32 %17
    %19 = add.f32 %16 %18
    %20 = constant.f32 -0.0
    %21 = ne %19 %20
    store flags[i0] %21
    store b1[i0] %19
  }
}
kernel running outer (i3 < s0) {
  phase (r4 < s1) {
    %0 = load.f32 b0[i3*s1 + r4]
    %1 = scan.f32 sum %0 reverse
    store out[i3*s1 + r4] %1
  }
}
call matmul_bias_gelu {
  a b0 [s0, s1] strides (s1, 1)
  b out [s1, s0] strides (1, s1)
  out b0 [s0, s0] strides (s1, 1) offset 3
  bias b1 [s0, s0] strides (0, 1)
  residual b0 [s0, s0] strides (s1, 1)
  activation gelu_erf
  scale 0.125
  weight
  @1
}
return out [s0, s1] strides (s1, 1)
return flags [s0] strides (1)
origin @0 exp at "main.cpp":6
origin @1 "odd name"
)";

TEST(LoopText, PrintsWhatItReads) {
  const Program p = parse_program(kEverything);
  EXPECT_EQ(to_text(p), kEverything);
  EXPECT_EQ(to_text(parse_program(to_text(p))), kEverything);
}

TEST(LoopText, HandWrittenDefaults) {
  const Program p = program_of(R"(
    sizes n   # a comment
    buffer x: f16[n, 4] input
    buffer y: i8[n] input
    buffer z: f32[n, 4] output
    kernel k outer (i < n, k < 4) {
      phase {
        %5 = load x[4*i + k]
        %7 = load y[i]
        %9 = cast.f32 %7
        %1 = add %5 %9
        %2 = le %1 %5
        %3 = select %2 %1 %9
        store z[4*i + k] %3
      }
    }
    return z
  )");
  EXPECT_EQ(to_text(p), R"(program ""
sizes n in [0, inf]
buffer x: f16[n, 4] strides (4, 1) input 0
buffer y: i8[n] strides (1) input 1
buffer z: f32[n, 4] strides (4, 1) output
kernel k outer (i < n, k < 4) {
  phase {
    %0 = load.f32 x[4*i + k]
    %1 = load.i8 y[i]
    %2 = cast.f32 %1
    %3 = add.f32 %0 %2
    %4 = le %3 %0
    %5 = select.f32 %4 %3 %2
    store z[4*i + k] %5
  }
}
return z [n, 4] strides (4, 1)
)");
}

TEST(LoopText, LiteralsAreExact) {
  Program p = program_of(R"(
    buffer a: f32[1] output
    buffer b: f64[1] output
    kernel k {
      phase {
        %0 = constant.f32 0.1
        %1 = constant.f32 bits 2143289345
        %2 = constant.f32 -inf
        %3 = constant.f32 1e-45
        %4 = constant.f64 0.1
        %5 = constant.f64 -0.0
        %6 = constant.i8 -128
        %7 = constant.u8 255
        %8 = constant.i64 -9223372036854775808
        %9 = constant.boolean true
        store a[0] %3
        store b[0] %4
      }
    }
  )");
  const std::string text = to_text(p);
  EXPECT_EQ(to_text(parse_program(text)), text);
  const auto& values = kernel_of(p).values;
  EXPECT_EQ(values[0].bits, 0x3dcccccdU);
  EXPECT_EQ(values[1].bits, 2143289345U);
  EXPECT_EQ(values[2].bits, 0xff800000U);
  EXPECT_EQ(values[3].bits, 1U);
  EXPECT_EQ(values[4].bits, 0x3fb999999999999aU);
  EXPECT_EQ(values[5].bits, 0x8000000000000000U);
  EXPECT_EQ(static_cast<std::int64_t>(values[6].bits), -128);
  EXPECT_EQ(values[7].bits, 255U);
  EXPECT_EQ(values[8].bits, 0x8000000000000000U);
  EXPECT_EQ(values[9].bits, 1U);
}

// A name that two kernels use with different extents becomes two symbols.
TEST(LoopText, AxesOfDifferentKernelsAreApart) {
  Program p = program_of(R"(
    sizes n
    buffer x: f32[n] input
    buffer y: f32[n] output
    buffer z: f32[4] output
    kernel a outer (i0 < n) { phase { %0 = load x[i0] store y[i0] %0 } }
    kernel b outer (i0 < 4) { phase { %0 = load x[i0] store z[i0] %0 } }
  )");
  EXPECT_EQ(symbolic::range_of(kernel_of(p, 0).outer[0].var).hi, symbolic::kMaxInf);
  EXPECT_EQ(symbolic::range_of(kernel_of(p, 1).outer[0].var).hi, 3);
}

void expect_error(std::string_view text, std::string_view message) {
  try {
    parse_program(text, "k.stax");
    FAIL() << "no error, wanted: " << message;
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

TEST(LoopText, ErrorsNameThePlace) {
  expect_error("program p\nbuffer b: f31[2]", "k.stax: line 2, column 11: unknown dtype");
  expect_error("buffer b: f32[s0]", "unknown symbol s0");
  expect_error("buffer b: f32[2]\nbuffer b: f32[2]", "buffer b is declared twice");
  expect_error("kernel k { phase { %0 = jump.f32 } }", "unknown operation jump");
  expect_error("kernel k { phase { %1 = neg.f32 %0 } }", "%0 is used before it is defined");
  expect_error("kernel k { phase { %0 = constant 1 } }", "a constant states its dtype");
  expect_error("kernel k { phase { %0 = load q[0] } }", "unknown buffer q");
  expect_error("kernel k {", "expected 'phase'");
  expect_error("nonsense", "expected sizes, facts, buffer, scalar, kernel, call, return or origin");
}

}  // namespace
}  // namespace stax::loop
