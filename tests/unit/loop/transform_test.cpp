// Merging, ordering, common values, dead values, canonical kernels, counts: by text.
#include "support.h"

#include "loop/count.h"

namespace stax::loop {
namespace {

constexpr std::string_view kBuffers = R"(
    sizes n in [2, inf] hint 64, m in [2, inf] hint 128
    buffer x: f32[n, m] input
    buffer t: f32[n, m] strides (1, n) input
    buffer y: f32[n, m] output
    buffer z: f32[n] output
    buffer i: i64[n] input
  )";

std::string merged(std::string_view kernel) {
  Program p = program_of(std::string(kBuffers) + std::string(kernel));
  merge_axes(p, kernel_of(p));
  verify(p);
  return to_text(p, kernel_of(p));
}

TEST(LoopTransform, MergesContiguousOuterAxes) {
  EXPECT_EQ(merged("kernel k outer (a < n, b < m) { phase { %0 = load x[m*a + b] store y[m*a + b] %0 } }"),
            R"(kernel k outer (i0 < m*n) {
  phase {
    %0 = load.f32 x[i0]
    store y[i0] %0
  }
}
)");
}

TEST(LoopTransform, DoesNotMergeAcrossAnotherStride) {
  EXPECT_EQ(merged("kernel k outer (a < n, b < m) { phase { %0 = load t[a + n*b] store y[m*a + b] %0 } }"),
            R"(kernel k outer (a < n, b < m) {
  phase {
    %0 = load.f32 t[b*n + a]
    store y[a*m + b] %0
  }
}
)");
}

TEST(LoopTransform, DropsAxesOfOneButKeepsAReductionAxis) {
  EXPECT_EQ(merged(R"(kernel k outer (a < n, one < 1) {
    phase (q < 1, w < 1) { %0 = load x[m*a + one + q + w] %1 = combine sum %0 }
    phase (e < 1) { store z[a + e] %1 }
  })"),
            R"(kernel k outer (a < n) {
  phase (q < 1) {
    %0 = load.f32 x[a*m + q]
    %1 = combine.f32 sum %0
  }
  phase {
    store z[a] %1
  }
}
)");
}

TEST(LoopTransform, MergesInnerAxesAndIndices) {
  EXPECT_EQ(merged(R"(kernel k {
    phase (q < n, w < m) { %0 = load x[m*q + w] %1 = index [m*q + w] %2 = combine argmax %0 %1 }
    phase { store z[0] %2 }
  })"),
            R"(kernel k {
  phase (r0 < m*n) {
    %0 = load.f32 x[r0]
    %1 = index.i64 [r0]
    %2 = combine.f32 argmax %0 %1
  }
  phase {
    store z[0] %2
  }
}
)");
}

TEST(LoopTransform, EqualCoefficientsByFacts) {
  Program p = program_of(R"(
    sizes n in [2, inf], m in [2, inf], s in [2, inf]
    facts s == m
    buffer x: f32[n, m] strides (s, 1) input
    buffer y: f32[n, m] output
    kernel k outer (a < n, b < m) { phase { %0 = load x[s*a + b] store y[m*a + b] %0 } }
  )");
  merge_axes(p, kernel_of(p));
  EXPECT_EQ(kernel_of(p).outer.size(), 1U);
}

TEST(LoopTransform, OrdersOuterAxesByTheStoresStride) {
  Program p = program_of(std::string(kBuffers) +
                         "kernel k outer (b < m, a < n) { phase { %0 = load t[a + n*b] store y[m*a + b] %0 } }");
  EXPECT_TRUE(reorder_outer_axes(p, kernel_of(p)));
  EXPECT_EQ(kernel_of(p).outer[0].var.name(), "a");
  EXPECT_FALSE(reorder_outer_axes(p, kernel_of(p)));
}

TEST(LoopTransform, CommonLoadsBecomeOneAndSymbolsFollow) {
  Program p = program_of(std::string(kBuffers) + R"(
    kernel k outer (a < n) {
      phase {
        %0 = load i[a]
        %1 = bounded %0 in [0, n) as j0
        %2 = load i[a]
        %3 = bounded %2 in [0, n) as j1
        %4 = load z[j0]
        %5 = load x[m*j1]
        %6 = load x[m*j0]
        %7 = add %5 %6
        %8 = exp %4
        store y[m*a] %7
      }
    })");
  Kernel k = kernel_of(p);
  eliminate_common_values(k);
  EXPECT_EQ(to_text(p, k), R"(kernel k outer (a < n) {
  phase {
    %0 = load.i64 i[a]
    %1 = bounded.i64 %0 in [0, n) as j0
    %2 = load.f32 x[j0*m]
    %3 = add.f32 %2 %2
    store y[a*m] %3
  }
}
)");
}

// Whether the index is in range is asked although no address depends on it.
TEST(LoopTransform, ChecksStayWithoutAUse) {
  for (const bool checked : {true, false}) {
    Program p = program_of(std::string(kBuffers) + R"(
    kernel k outer (i0 < n) {
      phase {
        %0 = load.i64 i[i0]
        %1 = bounded.i64 %0 in [0, 1) as j0)" +
                           (checked ? "" : " unchecked") + R"(
        %2 = load.f32 x[0]
        store z[i0] %2
      }
    })");
    Kernel& k = std::get<Kernel>(p.items[0]);
    eliminate_dead_values(k);
    EXPECT_EQ(k.values.size(), checked ? 3u : 1u);
  }
}

// A load after a store to the same buffer is another value; a combine of another phase is too.
TEST(LoopTransform, StoresAndPhasesSeparateValues) {
  Program p = program_of(R"(
    sizes n, m, q
    buffer x: f32[n] input written
    buffer y: f32[n] output
    kernel k outer (a < n) {
      phase { %0 = load x[a] %1 = neg %0 store x[a] %1 }
      phase (r < m) { %2 = combine sum %1 }
      phase (s < q) { %3 = combine sum %1 }
      phase { %4 = load x[a] %5 = add %4 %0 %6 = add %2 %3 %7 = add %5 %6 store y[a] %7 }
    })");
  Kernel k = kernel_of(p);
  eliminate_common_values(k);
  EXPECT_EQ(k.values.size(), 8U);
}

TEST(LoopTransform, CanonicalTextIsEqualUpToNames) {
  Program p = program_of(R"(
    sizes a in [2, inf], b in [2, inf], c in [2, inf]
    buffer u: f32[a, b] input
    buffer v: f32[b, c] input
    buffer w: f32[a, b] output
    buffer z: f32[b, c] output
    buffer g: f32[b, c] output
    buffer i: i64[c] input
    scalar c0: f64
    scalar c1: f64
    kernel one outer (i0 < a, i1 < b) {
      phase { %0 = load u[b*i0 + i1] %1 = scalar.f32 c0 %2 = mul %0 %1 store w[b*i0 + i1] %2 }
    }
    kernel two outer (x < b, y < c) {
      phase { %0 = load v[c*x + y] %1 = scalar.f32 c1 %2 = mul %0 %1 store z[c*x + y] %2 }
    }
    kernel three outer (x < b, y < c) {
      phase { %0 = load v[c*x + y] %1 = scalar.f32 c1 %2 = add %0 %1 store z[c*x + y] %2 }
    }
    kernel four outer (x < b, y < c) {
      phase {
        %0 = load i[y]
        %1 = bounded %0 in [0, c) @1
        %2 = cast.f32 %1
        store g[c*x + y] %2
      }
    }
    origin @0 add at "a.cpp":1
    origin @1 gather at "a.cpp":2
  )");
  const Canonical one = canonicalize(p, kernel_of(p, 0)), two = canonicalize(p, kernel_of(p, 1)),
                  three = canonicalize(p, kernel_of(p, 2)), four = canonicalize(p, kernel_of(p, 3));
  verify(one.program);
  verify(four.program);
  EXPECT_EQ(to_text(one.program), to_text(two.program));
  EXPECT_NE(to_text(one.program), to_text(three.program));
  EXPECT_EQ(to_text(one.program), R"(program canonical
sizes n0 in [2, inf], n1 in [2, inf]
buffer b0: f32[n0, n1] strides (n1, 1)
buffer b1: f32[n0, n1] strides (n1, 1)
scalar c0: f64 "c0"
kernel kernel outer (i0 < n0, i1 < n1) {
  phase {
    %0 = load.f32 b0[i0*n1 + i1]
    %1 = scalar.f32 c0
    %2 = mul.f32 %0 %1
    store b1[i0*n1 + i1] %2
  }
}
)");
  EXPECT_EQ(two.buffers, (std::vector<BufferId>{1, 3}));
  EXPECT_EQ(two.sizes, (std::vector<Expr>{p.sizes[1], p.sizes[2]}));
  EXPECT_EQ(two.scalars, (std::vector<int>{1}));
  EXPECT_EQ(four.origins, (std::vector<int>{1}));
}

TEST(LoopTransform, CountsBytesAndOperations) {
  Program p = program_of(std::string(kBuffers) + R"(
    kernel k outer (a < n) {
      phase (r < m) { %0 = load x[m*a + r] %1 = combine sum %0 }
      phase (q < m) { %2 = load x[m*a + q] %3 = sub %2 %1 store y[m*a + q] %3 }
    })");
  const KernelCount c = count(p, kernel_of(p));
  EXPECT_EQ(c.units, 64);
  EXPECT_EQ(c.largest_inner, 128);
  EXPECT_EQ(c.operations, 2 * 64 * 128);
  EXPECT_EQ(c.bytes_read, 4 * 64 * 128);
  EXPECT_EQ(c.bytes_written, 4 * 64 * 128);
}

}  // namespace
}  // namespace stax::loop
