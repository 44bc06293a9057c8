#include "triton_corpus.h"

#include <fmt/format.h>

#include <stdexcept>

namespace stax::test {
namespace {

// s0, s1 are sizes, or numbers in a static case.
std::string head(const std::string& name, bool dynamic) {
  return "program " + name + "\n" + (dynamic ? "sizes s0 in [1, 1000000] hint 64, s1 in [1, 1000000] hint 128\n" : "");
}

std::string fill(std::string text, const std::string& s0, const std::string& s1) {
  for (const auto& [from, to] : {std::pair{std::string("$0"), s0}, {std::string("$1"), s1}})
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, 2, to);
  return text;
}

constexpr const char* kRows = R"(buffer b0: f32[$0, $1] input
buffer b1: f32[$0, $1] input
buffer b2: f32[$0] output
kernel red_add_relu_mul_sum outer (i0 < $0) {
  phase (r0 < $1) {
    %0 = load.f32 b0[$1*i0 + r0]
    %1 = load.f32 b1[$1*i0 + r0]
    %2 = add.f32 %0 %1
    %3 = constant.f32 0.0
    %4 = max.f32 %2 %3
    %5 = constant.f32 2.0
    %6 = mul.f32 %4 %5
    %7 = combine.f32 sum %6
  }
  phase {
    store b2[i0] %7
  }
}
return b2 [$0] strides (1)
)";

constexpr const char* kTransposed = R"(buffer b0: f32[$0, $1] input
buffer b1: f32[$1, $0] input
buffer b2: f32[$1, $0] output
kernel poi_transpose_add outer (i0 < $1, i1 < $0) {
  phase {
    %0 = load.f32 b0[$1*i1 + i0]
    %1 = load.f32 b1[$0*i0 + i1]
    %2 = add.f32 %0 %1
    store b2[$0*i0 + i1] %2
  }
}
return b2 [$1, $0] strides ($0, 1)
)";

constexpr const char* kSoftmax = R"(buffer b0: f32[$0, $1] input
buffer b1: f32[$0, $1] output
kernel per_softmax outer (i0 < $0) {
  phase (r0 < $1) {
    %0 = load.f32 b0[$1*i0 + r0]
    %1 = combine.f32 online_softmax %0
    %2 = part.f32 %1 1
  }
  phase (r1 < $1) {
    %3 = load.f32 b0[$1*i0 + r1]
    %4 = sub.f32 %3 %1
    %5 = exp.f32 %4
    %6 = div.f32 %5 %2
    store b1[$1*i0 + r1] %6
  }
}
return b1 [$0, $1] strides ($1, 1)
)";

constexpr const char* kShares = R"(buffer b0: f32[$0, $1] input
buffer b1: f32[$0, $1] output
kernel per_exp_sum_div outer (i0 < $0) {
  phase (r0 < $1) {
    %0 = load.f32 b0[$1*i0 + r0]
    %1 = exp.f32 %0
    %2 = combine.f32 sum %1
  }
  phase (r1 < $1) {
    %3 = load.f32 b0[$1*i0 + r1]
    %4 = exp.f32 %3
    %5 = div.f32 %4 %2
    store b1[$1*i0 + r1] %5
  }
}
return b1 [$0, $1] strides ($1, 1)
)";

constexpr const char* kLayernorm = R"(buffer b0: bf16[$0, $1] input
buffer b1: f32[$1] input
buffer b2: bf16[$0, $1] output
kernel per_layernorm outer (i0 < $0) {
  phase (r0 < $1) {
    %0 = load.f32 b0[$1*i0 + r0]
    %1 = combine.f32 welford %0
    %2 = part.f32 %1 1
    %3 = part.f32 %1 2
  }
  phase {
    %4 = div.f32 %2 %3
    %5 = constant.f32 1e-05
    %6 = add.f32 %4 %5
    %7 = rsqrt.f32 %6
  }
  phase (r1 < $1) {
    %8 = load.f32 b0[$1*i0 + r1]
    %9 = sub.f32 %8 %1
    %10 = mul.f32 %9 %7
    %11 = load.f32 b1[r1]
    %12 = mul.f32 %10 %11
    store b2[$1*i0 + r1] %12
  }
}
return b2 [$0, $1] strides ($1, 1)
)";

constexpr const char* kArgmax = R"(buffer b0: f32[$0, $1] input
buffer b1: i64[$0] output
kernel per_argmax outer (i0 < $0) {
  phase (r0 < $1) {
    %0 = load.f32 b0[$1*i0 + r0]
    %1 = index.i64 [r0]
    %2 = combine.f32 argmax %0 %1
    %3 = part.i64 %2 1
  }
  phase {
    store b1[i0] %3
  }
}
return b1 [$0] strides (1)
)";

constexpr const char* kCumsum = R"(buffer b0: f32[$0, $1] input
buffer b1: f32[$0, $1] output
kernel scan_cumsum outer (i0 < $0) {
  phase (r0 < $1) {
    %0 = load.f32 b0[$1*i0 + r0]
    %1 = scan.f32 sum %0
    store b1[$1*i0 + r0] %1
  }
}
return b1 [$0, $1] strides ($1, 1)
)";

constexpr const char* kColumns = R"(buffer b0: f32[$0, $1] input
buffer b1: f32[$1] output
kernel red_column_sum outer (i0 < $1) {
  phase (r0 < $0) {
    %0 = load.f32 b0[i0 + $1*r0]
    %1 = combine.f32 sum %0
  }
  phase {
    store b1[i0] %1
  }
}
return b1 [$1] strides (1)
)";

constexpr const char* kEmbedding = R"(buffer b0: i64[$0] input
buffer b1: f32[50, $1] input
buffer b2: f32[$0, $1] output
kernel poi_embedding outer (i0 < $0, i1 < $1) {
  phase {
    %0 = load.i64 b0[i0]
    %1 = bounded.i64 %0 in [0, 50) as j0 wraps
    %2 = load.f32 b1[$1*j0 + i1]
    store b2[$1*i0 + i1] %2
  }
}
return b2 [$0, $1] strides ($1, 1)
)";

constexpr const char* kHalf = R"(buffer b0: f16[$0, $1] input
buffer b1: boolean[$0, $1] input
buffer b2: bf16[$0, $1] output
buffer b3: boolean[$0, $1] output
kernel poi_half outer (i0 < $0, i1 < $1) {
  phase {
    %0 = load.f32 b0[$1*i0 + i1]
    %1 = load.boolean b1[$1*i0 + i1]
    %2 = neg.f32 %0
    %3 = select.f32 %1 %0 %2
    %4 = constant.f32 -0.0
    %5 = lt.boolean %3 %4
    store b2[$1*i0 + i1] %3
    store b3[$1*i0 + i1] %5
  }
}
return b2 [$0, $1] strides ($1, 1)
return b3 [$0, $1] strides ($1, 1)
)";

constexpr const char* kIntegers = R"(buffer b0: i32[$0, $1] input
buffer b1: i32[$0, $1] input
buffer b2: i32[$0, $1] output
buffer b3: i32[$0, $1] output
buffer b4: i64[$0, $1] output
kernel poi_divisions outer (i0 < $0, i1 < $1) {
  phase {
    %0 = load.i32 b0[$1*i0 + i1]
    %1 = constant.i32 3
    %2 = constant.i32 -4
    %3 = floor_div.i32 %0 %1
    %4 = floor_mod.i32 %0 %2
    %5 = trunc_div.i32 %0 %2
    %6 = trunc_mod.i32 %0 %1
    %7 = add.i32 %3 %5
    %8 = mul.i32 %4 %6
    %9 = cast.i64 %0
    %10 = constant.i64 3
    %11 = pow.i64 %9 %10
    store b2[$1*i0 + i1] %7
    store b3[$1*i0 + i1] %8
    store b4[$1*i0 + i1] %11
  }
}
return b2 [$0, $1] strides ($1, 1)
return b3 [$0, $1] strides ($1, 1)
return b4 [$0, $1] strides ($1, 1)
)";

constexpr const char* kScalarDivision = R"(buffer b0: i64[] input
buffer b1: i64[] output
kernel poi_floor_mod outer () {
  phase {
    %0 = load.i64 b0[0]
    %1 = index.i64 [$0]
    %2 = floor_mod.i64 %0 %1
    %3 = floor_div.i64 %1 %0
    %4 = add.i64 %2 %3
    store b1[0] %4
  }
}
return b1 [] strides ()
)";

// Sums and running sums of nothing but -0.0 are +0.0.
constexpr const char* kNegativeZeros = R"(buffer b0: f32[$0, $1] input
buffer b1: f32[$0] output
buffer b2: f32[$0, $1] output
kernel red_abs_mul_sum_cumsum outer (i0 < $0) {
  phase (r0 < $1) {
    %0 = load.f32 b0[$1*i0 + r0]
    %1 = abs.f32 %0
    %2 = constant.f32 -0.0
    %3 = mul.f32 %1 %2
    %4 = combine.f32 sum %3
    %5 = scan.f32 sum %3
    store b2[$1*i0 + r0] %5
  }
  phase {
    store b1[i0] %4
  }
}
return b1 [$0] strides (1)
return b2 [$0, $1] strides ($1, 1)
)";

constexpr const char* kTruth = R"(buffer b0: f32[$0, $1] input
buffer b1: boolean[$0] output
buffer b2: f32[$0] output
kernel red_any_prod outer (i0 < $0) {
  phase (r0 < $1) {
    %0 = load.f32 b0[$1*i0 + r0]
    %1 = constant.f32 2.5
    %2 = lt.boolean %1 %0
    %3 = combine.boolean any %2
    %4 = combine.f32 min %0
  }
  phase {
    store b1[i0] %3
    store b2[i0] %4
  }
}
return b1 [$0] strides (1)
return b2 [$0] strides (1)
)";

constexpr const char* kSigmoid = R"(buffer b0: f32[$0, $1] input
buffer b1: f32[$0, $1] output
kernel poi_mul_sigmoid outer (i0 < $0, i1 < $1) {
  phase {
    %0 = load.f32 b0[$1*i0 + i1]
    %1 = constant.f32 20.0
    %2 = mul.f32 %0 %1
    %3 = sigmoid.f32 %2
    store b1[$1*i0 + i1] %3
  }
}
return b1 [$0, $1] strides ($1, 1)
)";

constexpr const char* kRandom = R"(buffer b0: f32[$0, $1] output
buffer b1: f32[$0, $1] output
scalar c0: i64 "seed"
scalar c1: f64 "scale"
kernel poi_random outer (i0 < $0, i1 < $1) {
  phase {
    %0 = random.f32 uniform c0 [$1*i0 + i1]
    %1 = random.f32 normal c0 [$1*i0 + i1 + 4294967290]
    %2 = scalar.f64 c1
    %3 = cast.f32 %2
    %4 = mul.f32 %0 %3
    store b0[$1*i0 + i1] %4
    store b1[$1*i0 + i1] %1
  }
}
return b0 [$0, $1] strides ($1, 1)
return b1 [$0, $1] strides ($1, 1)
)";

// Rows of which nothing is loaded, and their sums both once and along another axis.
constexpr const char* kDrawn = R"(buffer b0: f32[$0] output
buffer b1: f32[$0, $1] output
scalar c0: i64 "seed"
kernel red_drawn outer (i0 < $0) {
  phase (r0 < $1) {
    %0 = random.f32 uniform c0 [$1*i0 + r0]
    %1 = combine.f32 sum %0
  }
  phase {
    %2 = constant.f32 0.5
    %3 = mul.f32 %1 %2
    %4 = add.f32 %3 %2
    store b0[i0] %3
  }
  phase (r1 < $1) {
    store b1[$1*i0 + r1] %4
  }
}
return b0 [$0] strides (1)
return b1 [$0, $1] strides ($1, 1)
)";

std::vector<TritonCase> make() {
  std::vector<TritonCase> all;
  const std::vector<std::vector<std::int64_t>> sizes = {{1, 1}, {3, 17}, {5, 64}, {2, 130}};
  auto both = [&](const std::string& name, const char* text, const std::string& s0, const std::string& s1,
                  double tolerance, bool special = false, bool indices = false) {
    all.push_back({name, head(name, false) + fill(text, s0, s1), {{}}, tolerance, special, indices});
    all.push_back({name + "_dynamic", head(name, true) + fill(text, "s0", "s1"), sizes, tolerance, special, indices});
  };
  both("rows", kRows, "64", "128", 1e-6);
  both("transposed", kTransposed, "96", "80", 0, true);
  both("softmax", kSoftmax, "256", "1000", 1e-6);
  both("shares", kShares, "6", "200", 1e-6);
  both("layernorm", kLayernorm, "12", "768", 1e-2);  // the interpreter truncates to bfloat16
  both("argmax", kArgmax, "7", "100", 0, true);
  both("cumsum", kCumsum, "5", "200", 1e-5);
  both("columns", kColumns, "300", "70", 1e-5);
  both("embedding", kEmbedding, "9", "40", 0, false, true);
  both("half", kHalf, "33", "20", 1e-2, true);
  both("integers", kIntegers, "10", "20", 0);
  both("scalar_division", kScalarDivision, "10", "20", 0);
  both("cumsum_of_one", kCumsum, "5", "1", 1e-5);
  both("negative_zeros", kNegativeZeros, "6", "64", 0);
  both("truth", kTruth, "6", "90", 0, true);
  both("sigmoid", kSigmoid, "12", "90", 2e-7, true);
  both("random", kRandom, "12", "11", 0);
  both("drawn", kDrawn, "6", "90", 1e-5);
  all.push_back({"rows_large", head("rows", false) + fill(kRows, "16384", "8192"), {}, 0});
  std::string half = fill(kSoftmax, "32768", "4096");
  for (std::size_t at = half.find(": f32["); at != std::string::npos; at = half.find(": f32["))
    half.replace(at, 6, ": bf16[");
  all.push_back({"softmax_large", head("softmax", false) + half, {}, 0});
  all.push_back({"columns_large", head("columns", false) + fill(kColumns, "16384", "8192"), {}, 0});
  all.push_back({"softmax_wide", head("softmax", false) + fill(kSoftmax, "1024", "65536"), {}, 0});
  all.push_back({"layernorm_large", head("layernorm", false) + fill(kLayernorm, "16384", "8192"), {}, 0});
  all.push_back({"transposed_large", head("transposed", false) + fill(kTransposed, "8192", "8192"), {}, 0});
  all.push_back({"cumsum_long", head("cumsum", false) + fill(kCumsum, "4", "100000"), {}, 0});
  return all;
}

}  // namespace

const std::vector<TritonCase>& triton_corpus() {
  static const std::vector<TritonCase> all = make();
  return all;
}

const TritonCase& triton_case(const std::string& name) {
  for (const TritonCase& c : triton_corpus())
    if (c.name == name) return c;
  throw std::runtime_error("no case " + name);
}

}  // namespace stax::test
