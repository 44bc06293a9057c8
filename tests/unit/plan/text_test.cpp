#include <stax/base/error.h>

#include "base/file.h"
#include "helpers.h"

namespace stax::plan::test {
namespace {

// Every kind of line and every option of each.
constexpr std::string_view kEverything = R"(plan @everything {
  input  x f32 rank 2 cpu
  input  "p.w[0]" bf16 rank 1 cpu written
  input  same f32 rank 3 cpu
  scalar alpha f64
  scalar n i64
  scalar flag boolean
  bind   s0 in [2, 281474976710655] hint 64 = x.size(0) because "why" at "a.cpp":3
  bind   s1 in [0, inf] multiple 4 = x.size(1)
  bind   s2 in [-inf, inf] = n
  bind   s3 in [-5, 9] = x.stride(0)
  bind   s4 in [0, inf] = x.offset
  guard  x.stride(1) == 1 because "row-major" at "dir/main.cpp":12
  guard  "same".size(2) == s0 + 2*s1
  guard  n == 7
  guard  scalar alpha <= 2.5 because "alpha > 2.5 was false"
  guard  scalar n != -3
  guard  scalar flag == true
  guard  aligned x 64
  guard  disjoint x "p.w[0]"
  guard  same x "same"
  guard  where s0 < s1 || s2 == 3 at "b.cpp":1
  derive numel i64 = s0*s1
  derive half f64 = floordiv(s0, 2)
  buffer b0 f32 cpu input x
  buffer b1 bf16 cpu input "p.w[0]"
  buffer t0 f32 cpu temporary bytes 4*s0*s1
  buffer b2 f32 cpu output bytes 4*s0
  kernel red symbol stax_red module 0
  origin embedding at "main.cpp":6
  origin add
  alloc  t0
  alloc  b2
  launch red (b0, t0; s0, s1 + -1; alpha, numel) grid (ceildiv(s0, 8), 1)
  launch red (; ; ) origins (1, 0)
  matmul matmul_bias f32 a t0[s0, s1] strides (s1, 1) offset 0 b b0[s1, s0] strides (1, s1) offset s0 out b2[s0, s0] strides (s0, 1) offset 0 bias b0[s0, s0] strides (0, 1) offset 0 residual t0[s0, s0] strides (s0, 1) offset 0 activation gelu_erf scale 0.5 weight origin 1
  copy   b0[s0] strides (s1) offset 0 to b1[s0] strides (1) offset 0
  free   t0
  return out0 f32 b2[s0] strides (1) offset 0
  return "out 1" f32 b0[] strides () offset 5
}
)";

TEST(PlanText, PrintParsePrintIsTheIdentity) {
  const std::string once = to_text(plan_of(kEverything));
  EXPECT_EQ(to_text(plan_of(once)), once);
}

TEST(PlanText, EveryLineIsKept) {
  const std::string text = to_text(plan_of(kEverything));
  for (const char* piece : {"input  \"p.w[0]\" bf16 rank 1 cpu written",
                            "input  \"same\" f32 rank 3 cpu",
                            "bind   s1 in [0, inf] multiple 4 = x.size(1)",
                            "bind   s2 in [-inf, inf] = n",
                            "hint 64 = x.size(0) because \"why\" at \"a.cpp\":3",
                            "guard  x.stride(1) == 1 because \"row-major\" at \"dir/main.cpp\":12",
                            "guard  n == 7",
                            "guard  scalar alpha <= 2.5",
                            "guard  scalar n != -3",
                            "guard  scalar flag == true",
                            "guard  aligned x 64",
                            "guard  disjoint x \"p.w[0]\"",
                            "guard  same x \"same\"",
                            "activation gelu_erf scale 0.5 weight origin 1",
                            "free   t0",
                            "return \"out 1\" f32 b0[] strides ()",
                            "derive half f64 = ",
                            "origin add\n",
                            " origins (1, 0)",
                            "; alpha, numel) grid ("})
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
}

TEST(PlanText, TheExampleOfTheManualReads) {
  const std::string page = base::read_file(STAX_SOURCE_DIR "/docs/plan.md");
  const std::size_t begin = page.find("```\n") + 4;
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  EXPECT_EQ(to_text(plan_of(example)), example);
}

TEST(PlanText, ErrorsHaveLineAndColumn) {
  auto error = [](std::string_view text) -> std::string {
    try {
      plan_of(text);
    } catch (const UserError& e) {
      return e.problem();
    }
    return "none";
  };
  EXPECT_EQ(error("plan @p {\n  inptu x f32 rank 1 cpu\n}"), "test.plan: line 2, column 3: unknown line 'inptu'");
  EXPECT_EQ(error("plan @p {\n  input x f33 rank 1 cpu\n}"), "test.plan: line 2, column 11: 'f33' is no dtype");
  EXPECT_NE(error("plan @p {\n  alloc b7\n}").find("line 2, column 9: there is no buffer 'b7'"), std::string::npos);
  EXPECT_NE(error("plan @p {\n  buffer b f32 cpu output bytes s7\n}").find("symbol s7 is not bound"), std::string::npos)
      << error("plan @p {\n  buffer b f32 cpu output bytes s7\n}");
  EXPECT_NE(error("plan @p {\n  input x f32 rank 1 cpu\n  input x f32 rank 1 cpu\n}")
                .find("test.plan: line 1, column 1: the plan does not verify: plan p: input named 'x' twice or empty"),
            std::string::npos);
  EXPECT_NE(error("plan @p {\n").find("test.plan: line 2"), std::string::npos) << error("plan @p {\n");
}

}  // namespace
}  // namespace stax::plan::test
