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
    raise_in_step(p, step, -1, DeviceError("launch failed"), {});
  } catch (const DeviceError& e) {
    return e.what();
  }
}

TEST(DeviceErrorsOfSteps, NameTheKernelAndThePlace) {
  const Plan p = plan_of(kTwoSteps);
  EXPECT_EQ(message_at(p, 0), "launch failed (in kernel poi_exp, exp of net at main.cpp:7)") << "of the next step";
  EXPECT_EQ(message_at(p, 1), "launch failed (in kernel poi_exp, exp of net at main.cpp:7)");
  EXPECT_EQ(message_at(p, 2), "launch failed (in library call matmul, matmul of net at main.cpp:8)");
  EXPECT_EQ(message_at(p, 3), "launch failed (in net)");
}

TEST(DeviceErrorsOfSteps, LackOfMemoryNamesItsOwners) {
  const Plan p = plan_of(kTwoSteps);
  const std::uint64_t mib = 1 << 20;
  const OutOfMemory error("out of memory on null: asked for 9 bytes", "Stax holds it", "Use less",
                          {9, 20 * mib, 3 * mib});
  const CallMemory memory{2 * mib, mib, {{"x", 4 * mib}, {"captured0", 5 * mib}}};
  try {
    raise_in_step(p, 0, 1, error, memory);  // the output, which the second step writes
    FAIL();
  } catch (const OutOfMemory& e) {
    EXPECT_STREQ(
        e.what(),
        "out of memory on null: asked for 9 bytes for b1 (in library call matmul, matmul of net) at main.cpp:8. "
        "The call holds 2.0 MiB in temporaries, 1.0 MiB in results and 9.0 MiB in arguments and captured tensors "
        "(captured0 5.0 MiB, x 4.0 MiB); other tensors hold 8.0 MiB; 3.0 MiB are cached. Stax holds it. Use less");
    EXPECT_EQ(e.where().line, 8);
  }
  try {
    raise_in_step(p, 1, -1, error, {});  // the library's own memory
    FAIL();
  } catch (const OutOfMemory& e) {
    EXPECT_EQ(std::string(e.what()).find("out of memory on null: asked for 9 bytes (in kernel poi_exp, exp of net) at "
                                         "main.cpp:7. "),
              0U);
  }
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
