#include <gtest/gtest.h>

#include "run_kernels.h"

namespace stax::test {

TEST(Kernels, First) {
  const std::vector<std::vector<std::int64_t>> sizes = {{0, 3}, {3, 0}, {1, 1}, {2, 15}, {3, 16}, {4, 17}, {2, 31}, {3, 33}, {5, 1000}};
  check_all({
      {.text = R"(
program a
sizes s0 in [0, 1000000], s1 in [0, 1000000]
buffer b0: f32[s0, s1] input
buffer b1: f32[s0, s1] input
buffer b2: f32[s0] output
kernel red outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = load.f32 b1[s1*i0 + r0]
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
return b2 [s0] strides (1)
)", .sizes = sizes, .tolerance = 1e-5},
      {.text = R"(
program b
sizes s0 in [0, 1000000], s1 in [0, 1000000]
buffer b0: f32[s0, s1] input
buffer b1: f32[s0, s1] output
kernel softmax outer (i0 < s0) {
  phase (r0 < s1) {
    %0 = load.f32 b0[s1*i0 + r0]
    %1 = combine.f32 online_softmax %0
    %2 = part.f32 %1 1
  }
  phase (r1 < s1) {
    %3 = load.f32 b0[s1*i0 + r1]
    %4 = sub.f32 %3 %1
    %5 = exp.f32 %4
    %6 = div.f32 %5 %2
    store b1[s1*i0 + r1] %6
  }
}
return b1 [s0, s1] strides (s1, 1)
)", .sizes = sizes, .tolerance = 1e-6},
  });
}

}  // namespace stax::test
