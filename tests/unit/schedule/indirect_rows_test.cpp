// Rows that an index in memory names: fetched some units ahead, the same values and errors as without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/cpp/emit.h"
#include "run_kernels.h"

namespace stax::test {
namespace {

// Rows of a table minus their largest element; [s0, s1] indices, a table of s2 rows of s3.
std::string rows(std::string_view index, std::string_view address) {
  return fmt::format(R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000], s2 in [0, 1000000], s3 in [0, 1000000]
buffer b0: {0}[s0, s1] input
buffer b1: f32[s2, s3] input
buffer b2: f32[s0, s1, s3] output
kernel k outer (i0 < s0, i1 < s1) {{
  phase {{
    %0 = load.{0} b0[{1}]
    %1 = bounded.{0} %0 in [0, s2) as j0 wraps
  }}
  phase (r0 < s3) {{
    %2 = load.f32 b1[s3*j0 + r0]
    %3 = combine.f32 max %2
  }}
  phase (r1 < s3) {{
    %4 = load.f32 b1[s3*j0 + r1]
    %5 = sub.f32 %4 %3
    store b2[i0*s1*s3 + s3*i1 + r1] %5
  }}
}}
return b2 [s0, s1, s3] strides (s1*s3, s3, 1)
)",
                     index, address);
}
constexpr std::string_view kEach = "s1*i0 + i1", kOfRow = "s1*i0";
constexpr const char* kSchedule = "schedule cpu { units i0, i1 grain 1; vector inner }";

std::string emitted(const std::string& text) {
  const loop::Program p = loop::parse_program(text);
  const auto& k = std::get<loop::Kernel>(p.items[0]);
  const loop::CpuSchedule s = loop::parse_cpu_schedule(kSchedule, k);
  const codegen::CppKernel kernel{"k", &p, &k, &s};
  return codegen::emit_cpp({&kernel, 1}, 64);
}

int count(const std::string& text, std::string_view what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(IndirectRows, AreTheSameAsWithoutFetching) {
  for (const char* index : {"i64", "i32"})
    for (int width : {16, 64})
      check_all(
          {{.text = rows(index, kEach),
            .sizes = {{0, 3, 11, 7}, {1, 1, 11, 1}, {2, 3, 12, 0}, {2, 4, 19, 33}, {3, 50, 40, 100}, {1, 9, 13, 5000}},
            .schedule = kSchedule}},
          width);
}

TEST(IndirectRows, EachIsFetchedOnce) { EXPECT_EQ(count(emitted(rows("i64", kEach)), "  v::fetch_row("), 1); }

// The row of the next unit is the same one.
TEST(IndirectRows, ThoseThatStayAreNot) { EXPECT_EQ(count(emitted(rows("i64", kOfRow)), "  v::fetch_row("), 0); }

// Another thread may write the next unit's index.
TEST(IndirectRows, ThoseThatTheKernelMayMoveAreNot) {
  std::string text = rows("i64", kEach);
  const auto replace = [&](std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  replace("b0: i64[s0, s1] input", "b0: i64[s0, s1] input written");
  replace("as j0 wraps", "as j0 wraps\n    store b0[s1*i0 + i1] %1");
  EXPECT_EQ(count(emitted(text), "  v::fetch_row("), 0);
}

}  // namespace
}  // namespace stax::test
