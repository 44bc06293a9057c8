#include <stax/base/error.h>

#include "helpers.h"

namespace stax::plan::test {
namespace {

std::string broken(void (*damage)(Plan&)) {
  Plan p = plan_of(kAdd);
  damage(p);
  try {
    verify(p);
  } catch (const InternalError& e) {
    return e.what();
  }
  return "fine";
}

void expect_rule(void (*damage)(Plan&), const std::string& words) {
  EXPECT_NE(broken(damage).find(words), std::string::npos) << broken(damage);
}

TEST(PlanVerify, FindsWhatIsBroken) {
  EXPECT_EQ(broken([](Plan&) {}), "fine");
  expect_rule([](Plan& p) { p.inputs[1].name = "x"; }, "input named 'x' twice");
  expect_rule([](Plan& p) { p.bindings.pop_back(); }, "symbol s1 is not bound");
  expect_rule([](Plan& p) { p.bindings.push_back(p.bindings[0]); }, "symbol s0 bound twice");
  expect_rule([](Plan& p) { p.bindings[0].from.axis = 2; }, "axis 2 of rank 2");
  expect_rule([](Plan& p) { p.buffers[0].input = 5; }, "input 5 of 2");
  expect_rule([](Plan& p) { p.buffers[2].bytes = {}; }, "size of buffer b2 has no expression");
  expect_rule([](Plan& p) { p.buffers[2].kind = BufferKind::temporary; }, "output out0 views a temporary");
  expect_rule([](Plan& p) { p.steps.push_back(p.steps[0]); }, "b2 is allocated twice");
  expect_rule([](Plan& p) { p.steps.emplace_back(FreeStep{2}); }, "free of b2, which is no temporary");
  expect_rule([](Plan& p) { std::get<LaunchStep>(p.steps[1]).kernel = 1; }, "kernel 1 of 1");
  expect_rule([](Plan& p) { std::get<LaunchStep>(p.steps[1]).scalars = {0}; }, "scalar position");
  expect_rule([](Plan& p) { p.outputs[0].view.strides.pop_back(); }, "sizes and strides of unlike rank");
  expect_rule([](Plan& p) { p.scalars.push_back({"a", Dtype::f32}); }, "scalar a has dtype f32");
}

TEST(PlanVerify, TemporariesAreUsedBetweenAllocAndFree) {
  auto error = [](const std::string& steps) -> std::string {
    try {
      plan_of("plan @p {\n buffer t f32 cpu temporary bytes 4\n kernel k symbol k module 0\n" + steps + "}");
    } catch (const UserError& e) {
      return e.what();
    }
    return "fine";
  };
  EXPECT_EQ(error("alloc t launch k (t; ; ) free t alloc t launch k (t; ; ) free t"), "fine");
  EXPECT_NE(error("launch k (t; ; )").find("t is used before its alloc"), std::string::npos);
  EXPECT_NE(error("alloc t free t launch k (t; ; )").find("t is used after its free"), std::string::npos);
  EXPECT_NE(error("alloc t free t free t").find("t is used after its free"), std::string::npos);
}

}  // namespace
}  // namespace stax::plan::test
