// The text form of a plan: its listing, which parses back (kernels without their source).
//
//   plan @rows {
//     input  x f32 rank 2 cpu
//     scalar alpha f64
//     bind   s0 in [2, 281474976710655] hint 64 = x.size(0)
//     guard  x.stride(1) == 1 because "row-major" at "main.cpp":9
//     buffer b0 f32 input x
//     buffer b2 f32 output bytes 4*s0
//     kernel red_add_relu symbol red_add_relu module 0
//     origin add at "main.cpp":6
//     alloc  b2
//     launch red_add_relu (b0, b2; s0, s1; alpha)
//     return out0 f32 b2[s0] strides (1) offset 0
//   }
#pragma once
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace stax::plan {

std::string to_text(const Plan& plan);
// UserError with line and column. The result is verified.
Plan parse_plan(std::string_view text, std::shared_ptr<symbolic::Context> context, std::string file = {});

}  // namespace stax::plan
