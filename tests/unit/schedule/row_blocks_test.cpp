// Combines that go over a block of a row twice: the second time over memory itself where the block lies there as it is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/cpp/emit.h"
#include "run_kernels.h"

namespace stax::test {
namespace {

// `combine` of what `value` makes of %0, a row of b0, which the same phase may store to; its parts are results.
std::string program(std::string_view combine, std::string_view value, std::string_view store,
                    std::string_view dtype = "f32", std::string_view address = "s1*i0 + r0") {
  return fmt::format(R"(
program p
sizes s0 in [0, 1000000], s1 in [0, 1000000]
buffer b0: {4}[s0, s1] input 0{3}
buffer b1: f32[s0] output
buffer b2: f32[s0] output
kernel k outer (i0 < s0) {{
  phase (r0 < s1) {{
    %0 = load.f32 b0[{5}]
    {1}
    %2 = combine.f32 {0} {6}
    %3 = part.f32 %2 1
    {2}
  }}
  phase {{
    store b1[i0] %2
    store b2[i0] %3
  }}
}}
return b1 [s0] strides (1)
return b2 [s0] strides (1)
{7}
)",
                     combine, value, store, store.empty() ? "" : " written", dtype, address,
                     value.empty() ? "%0" : "%1",
                     store.empty() ? "" : fmt::format("return b0 [s0, s1] strides (s1, 1)"));
}

bool is_staged(const std::string& text) {
  const loop::Program p = loop::parse_program(text);
  const auto& k = std::get<loop::Kernel>(p.items[0]);
  const loop::CpuSchedule s =
      loop::parse_cpu_schedule("schedule cpu { units i0 grain 1; vector inner; phase 0: unroll 4 }", k);
  const codegen::CppKernel kernel{"k", &p, &k, &s};
  return codegen::emit_cpp({&kernel, 1}, 64).find("v::store(w") != std::string::npos;
}

TEST(RowBlocks, WhatLiesInMemoryIsReadThere) {
  for (const char* combine : {"welford", "online_softmax"}) {
    EXPECT_FALSE(is_staged(program(combine, "", ""))) << combine;
    EXPECT_TRUE(is_staged(program(combine, "%1 = neg.f32 %0", ""))) << combine;
    EXPECT_TRUE(is_staged(program(combine, "%1 = neg.f32 %0", "store b0[s1*i0 + r0] %1"))) << combine;
    EXPECT_TRUE(is_staged(program(combine, "", "", "bf16"))) << "converted";
    EXPECT_TRUE(is_staged(program(combine, "", "", "f32", "i0 + s0*r0"))) << "with a stride";
    EXPECT_TRUE(is_staged(program(combine, "", "", "f32", "s1*i0 + s1 - 1 - r0"))) << "backwards";
  }
}

// The phase that combines the row also overwrites it: the second pass must not see that.
TEST(RowBlocks, ARowThatIsOverwritten) {
  const std::string doubled = "%9 = add.f32 %0 %0 store b0[s1*i0 + r0] %9";
  std::vector<Check> checks;
  for (const char* combine : {"welford", "online_softmax"}) {
    checks.push_back(
        {.text = program(combine, "", doubled), .sizes = {{1, 1}, {3, 17}, {2, 100}, {2, 5000}}, .tolerance = 1e-5});
    EXPECT_TRUE(is_staged(checks.back().text)) << combine;
  }
  for (int width : {16, 64}) check_all(checks, width);
}

TEST(RowBlocks, EveryLength) {
  std::vector<Check> checks;
  for (const char* combine : {"welford", "online_softmax"})
    for (const char* address : {"s1*i0 + r0", "s1*i0 + s1 - 1 - r0"})
      for (const bool special : {false, true})
        checks.push_back(
            {.text = program(combine, "", "", "f32", address),
             .sizes = {{2, 1}, {3, 15}, {3, 16}, {3, 31}, {3, 33}, {2, 64}, {2, 4096}, {2, 4097}, {2, 9001}},
             .tolerance = 1e-5,
             .special = special});
  for (int width : {16, 32, 64}) check_all(checks, width);
}

}  // namespace
}  // namespace stax::test
