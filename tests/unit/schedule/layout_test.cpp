// Transposed, strided, broadcast, reversed and indirect access.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "run_kernels.h"

namespace stax::test {
namespace {

const std::vector<std::vector<std::int64_t>> kSizes = {{0, 5},   {5, 0},   {1, 1},   {15, 16}, {16, 16},
                                                       {17, 31}, {33, 15}, {64, 64}, {100, 3}, {130, 200}};

std::string transpose_program(std::string_view dtype, std::string_view out, int hint = 512) {
  return fmt::format(R"(
program p
sizes s0 in [0, 1000000] hint {3}, s1 in [0, 1000000] hint {3}
buffer b0: {0}[s1, s0] input
buffer b1: {0}[s0, s1] input
buffer b2: {0}[s0, s1] output
kernel add_transposed outer (i0 < s0, i1 < s1) {{
  phase {{
    %0 = load.{1} b0[i0 + s0*i1]
    %1 = load.{1} b1[s1*i0 + i1]
    %2 = {2}.{1} %0 %1
    store b2[s1*i0 + i1] %2
  }}
}}
return b2 [s0, s1] strides (s1, 1)
)",
                     dtype, out, dtype == "boolean" ? "bit_xor" : "add", hint);
}

TEST(Layouts, Transposed) {
  std::vector<Check> checks;
  for (auto [in, out] : {std::pair{"f32", "f32"},
                         {"bf16", "f32"},
                         {"f16", "f32"},
                         {"i32", "i32"},
                         {"boolean", "boolean"},
                         {"f64", "f64"},
                         {"i64", "i64"},
                         {"u8", "u8"}})
    checks.push_back({.text = transpose_program(in, out), .sizes = kSizes});
  for (int width : {16, 32, 64}) check_all(checks, width);
}

TEST(Layouts, TransposedUsesTiles) {
  const loop::Program p = loop::parse_program(transpose_program("f32", "f32"));
  const auto& k = std::get<loop::Kernel>(p.items[0]);
  EXPECT_EQ(loop::to_text(schedule::schedule_cpu(k, p, {.threads = 2}), k),
            "schedule cpu { units i0, i1 / 128 grain 24000; vector i1; tile i0 128; phase 0: unroll 2 }");
}

TEST(Layouts, LargeTransposedFetchesAhead) {
  loop::Program p = loop::parse_program(transpose_program("f32", "f32", 4096));
  const auto& k = std::get<loop::Kernel>(p.items[0]);
  EXPECT_EQ(loop::to_text(schedule::schedule_cpu(k, p, {.threads = 2}), k),
            "schedule cpu { units i0, i1 / 128 grain 24000; vector i1; tile i0 128; cache 33554432; phase 0: unroll 2, "
            "ahead 8, stream }");
}

// Tiles of one to several rows a square, more and fewer than one square a row; what is fetched may lie beyond the ends.
TEST(Layouts, TransposedFetchedAhead) {
  std::vector<Check> checks;
  auto sizes = kSizes;
  sizes.insert(sizes.end(), {{300, 517}, {517, 300}});
  for (auto [in, out] : {std::pair{"f32", "f32"}, {"bf16", "f32"}, {"i32", "i32"}, {"boolean", "boolean"}})
    for (const char* tile : {"32", "64", "256"})
      for (const char* phase : {"unroll 2, ahead 8, stream", "ahead 3"})
        checks.push_back({.text = transpose_program(in, out),
                          .sizes = sizes,
                          .schedule = fmt::format("schedule cpu {{ units i0, i1 / {0} grain 1; vector i1; tile i0 {0}; "
                                                  "cache 64; phase 0: {1} }}",
                                                  tile, phase)});
  for (int width : {16, 32, 64}) check_all(checks, width);
}

// Strides that are sizes, zero, negative; an offset; a division in the address.
TEST(Layouts, Strided) {
  check_all({
      {.text = R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000], s2 in [-100, 100], s3 in [-100, 100]
buffer b0: f32[s0, s1] strides (s2, s3) input
buffer b1: f32[s0, s1] output
kernel k outer (i0 < s0, i1 < s1) {
  phase {
    %0 = load.f32 b0[s2*i0 + s3*i1]
    store b1[s1*i0 + i1] %0
  }
}
return b1 [s0, s1] strides (s1, 1)
)",
       .sizes = {{3, 17, 0, 1}, {3, 17, 17, 0}, {3, 17, 40, 2}, {3, 17, -17, -1}, {2, 33, 1, -3}, {5, 1, 0, 0}}},
      {.text = R"(
program p
sizes s0 in [0, 1000000], s1 in [1, 1000000]
buffer b0: f32[s0] input
buffer b1: f32[s1] input
buffer b2: f32[s0] output
kernel k outer (i0 < s0) {
  phase {
    %0 = load.f32 b0[s0 - 1 - i0]
    %1 = load.f32 b1[floormod(i0, s1)]
    %2 = mul.f32 %0 %1
    %3 = index.i64 [floordiv(i0, s1)]
    %4 = cast.f32 %3
    %5 = sub.f32 %2 %4
    store b2[i0] %5
  }
}
return b2 [s0] strides (1)
)",
       .sizes = {{0, 1}, {1, 1}, {15, 4}, {33, 5}, {1000, 7}}},
      {.text = R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000]
buffer b0: f32[s0, s1] input
buffer b1: f32[s1] input
buffer b2: f32[s0] input
buffer b3: f32[] input
buffer b4: f32[s1, s0] output
kernel k outer (i0 < s0, i1 < s1) {
  phase {
    %0 = load.f32 b0[s1*i0 + i1]
    %1 = load.f32 b1[i1]
    %2 = load.f32 b2[i0]
    %3 = load.f32 b3[0]
    %4 = fma.f32 %0 %1 %2
    %5 = mul.f32 %4 %3
    store b4[i0 + s0*i1] %5
  }
}
return b4 [s1, s0] strides (s0, 1)
)",
       .sizes = kSizes},
  });
}

TEST(Layouts, RankZero) {
  check_all({{.text = R"(
program p
scalar c0: f64 "alpha"
scalar c1: i64 "n"
buffer b0: f32[] input
buffer b1: f32[] output
buffer b2: i64[] output
kernel k {
  phase {
    %0 = load.f32 b0[0]
    %1 = scalar.f32 c0
    %2 = mul.f32 %0 %1
    %3 = exp.f32 %2
    %4 = scalar.i64 c1
    store b1[0] %3
    store b2[0] %4
  }
}
return b1 [] strides ()
return b2 [] strides ()
)",
              .sizes = {{}},
              .tolerance = 1e-6}});
}

TEST(Layouts, RandomNumbersDependOnTheElementAlone) {
  std::vector<Check> checks;
  for (const char* kind : {"uniform", "normal"})
    checks.push_back({.text = fmt::format(R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000]
scalar c0: i64 "seed"
buffer b0: f32[s0, s1] output
kernel k outer (i0 < s0, i1 < s1) {{
  phase {{
    %0 = random.f32 {} c0 [s1*i0 + i1]
    store b0[s1*i0 + i1] %0
  }}
}}
return b0 [s0, s1] strides (s1, 1)
)",
                                          kind),
                      .sizes = {{1, 1}, {3, 17}, {5, 100}}});
  for (int width : {16, 64}) check_all(checks, width);
}

const char* kEmbedding = R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000], s2 in [0, 1000000]
buffer b0: i64[s0] input
buffer b1: f32[s1, s2] input
buffer b2: f32[s0, s2] output
kernel embedding outer (i0 < s0, i1 < s2) {
  phase {
    %0 = load.i64 b0[i0]
    %1 = bounded.i64 %0 in [0, s1) as j0 wraps
    %2 = load.f32 b1[s2*j0 + i1]
    store b2[s2*i0 + i1] %2
  }
}
return b2 [s0, s2] strides (s2, 1)
)";
const char* kGather = R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000]
buffer b0: i32[s0] input
buffer b1: f32[s1] input
buffer b2: f32[s0] output
kernel gather outer (i0 < s0) {
  phase {
    %0 = load.i32 b0[i0]
    %1 = bounded.i32 %0 in [0, s1) as j0 wraps
    %2 = load.f32 b1[j0]
    %3 = cast.f32 %1
    %4 = add.f32 %2 %3
    store b2[i0] %4
  }
}
return b2 [s0] strides (1)
)";

TEST(Layouts, Indirect) {
  check_all({{.text = kEmbedding, .sizes = {{0, 11, 3}, {1, 11, 1}, {5, 11, 33}, {17, 40, 100}}},
             {.text = kGather, .sizes = {{0, 11}, {1, 11}, {17, 11}, {1000, 50}}}});
}

TEST(Layouts, IndexOutOfRangeIsReportedAndClamped) {
  const loop::Program embedding = loop::parse_program(kEmbedding), gather = loop::parse_program(kGather);
  const CompiledKernels compiled({&embedding, &gather}, 64, default_schedule(64, 1));
  for (std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    for (std::int64_t table : {10, 0}) {
      loop::Bindings b;
      b.sizes = which == 0 ? std::vector<std::int64_t>{20, table, 5} : std::vector<std::int64_t>{20, table};
      b.inputs = {random_array({20}, which == 0 ? Dtype::i64 : Dtype::i32, 1),
                  which == 0 ? random_array({table, 5}, Dtype::f32, 2) : random_array({table}, Dtype::f32, 2)};
      for (int i = 0; i < 20; ++i) {
        const std::int64_t v = i == 13 ? 10 : 3;
        if (which == 0)
          b.inputs[0].data_as<std::int64_t>()[i] = v;
        else
          b.inputs[0].data_as<std::int32_t>()[i] = static_cast<std::int32_t>(v);
      }
      ErrorWord error;
      compiled.run(which, b, 1, &error);
      EXPECT_EQ(error.code, 1);
      EXPECT_EQ(error.bound, table);
      EXPECT_EQ(error.index, table ? 10 : 0);
    }
  }
}

TEST(Layouts, IntegerDivisionByZeroIsReported) {
  const loop::Program p = loop::parse_program(R"(
program p
sizes s0 in [0, 1000000]
buffer b0: i32[s0] input
buffer b1: i32[s0] output
kernel k outer (i0 < s0) {
  phase {
    %0 = load.i32 b0[i0]
    %1 = constant.i32 7
    %2 = floor_div.i32 %1 %0
    store b1[i0] %2
  }
}
return b1 [s0] strides (1)
)");
  const CompiledKernels compiled({&p}, 64, default_schedule(64, 1));
  for (std::int64_t zero_at : {-1, 3, 16, 36}) {
    loop::Bindings b;
    b.sizes = {37};
    b.inputs = {random_array({37}, Dtype::i32, 1)};
    for (int i = 0; i < 37; ++i) b.inputs[0].data_as<std::int32_t>()[i] = i == zero_at ? 0 : i + 1;
    ErrorWord error;
    compiled.run(0, b, 1, &error);
    EXPECT_EQ(error.code, zero_at < 0 ? 0 : 2) << zero_at;
  }
}

}  // namespace
}  // namespace stax::test
