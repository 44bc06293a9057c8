// Errors of a device name the kernel or library call of the step, and the user's place.
#include "plan/report.h"

#include "helpers.h"

namespace stax::plan::test {
namespace {

constexpr const char* kTwoSteps = R"(
plan @net {
  input  x f32 rank 2 null
  buffer b0 f32 null input x
  buffer b1 f32 null output bytes 64
  buffer t0 f32 null temporary bytes 64
  kernel poi_exp symbol poi_exp module 0 reports
  origin exp at "main.cpp":7
  origin matmul at "main.cpp":8
  alloc  t0
  launch poi_exp (b0, t0; ; ) grid (1) from 0
  matmul matmul f32 a t0[4, 4] strides (4, 1) offset 0 b t0[4, 4] strides (4, 1) offset 0 out b1[4, 4] strides (4, 1) offset 0 origin 1
  free   t0
  return out0 f32 b1[4, 4] strides (4, 1) offset 0
}
)";

std::string message_at(const Plan& p, std::size_t step) {
  try {
    raise_in_step(p, step, DeviceError("out of memory"));
  } catch (const DeviceError& e) {
    return e.what();
  }
}

TEST(DeviceErrorsOfSteps, NameTheKernelAndThePlace) {
  const Plan p = plan_of(kTwoSteps);
  EXPECT_EQ(message_at(p, 0), "out of memory (in kernel poi_exp, exp at main.cpp:7 of net)") << "allocated for it";
  EXPECT_EQ(message_at(p, 1), "out of memory (in kernel poi_exp, exp at main.cpp:7 of net)");
  EXPECT_EQ(message_at(p, 2), "out of memory (in library call matmul, matmul at main.cpp:8 of net)");
  EXPECT_EQ(message_at(p, 3), "out of memory (in net)");
}

TEST(ReportsOfKernels, CountTheOriginsOfTheirLaunch) {
  Plan p = plan_of(kTwoSteps);
  auto& launch = std::get<LaunchStep>(p.steps.at(1));
  launch.origins = {1, 0};
  try {
    raise_report({static_cast<std::int64_t>(runtime::ErrorCode::index_out_of_range), 1, 9, 4},
                 reported_origins(p, launch));
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "exp: index 9 is out of range [0, 4) at main.cpp:7");
  }
}

TEST(PlanText, StepsOfAGpuReadBack) {
  const std::string text = to_text(plan_of(kTwoSteps));
  EXPECT_EQ(to_text(plan_of(text)), text);
  EXPECT_NE(text.find("reports"), std::string::npos);
}

}  // namespace
}  // namespace stax::plan::test
