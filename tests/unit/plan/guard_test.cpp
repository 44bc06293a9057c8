#include <cmath>

#include "helpers.h"

namespace stax::plan::test {
namespace {

TEST(PlanGuards, AFittingCallPasses) {
  const Executable e = executable(kAdd, {{"add_f32", add_f32}});
  EXPECT_EQ(failure(e, Call({filled({3, 4}, 0), filled({3, 4}, 1)})), "fits");
}

TEST(PlanGuards, MessagesNameFactValuesReasonAndPlace) {
  const Executable e = executable(kAdd, {{"add_f32", add_f32}});
  EXPECT_EQ(failure(e, Call({filled({3, 4}, 0), filled({5, 4}, 1)})),
            "y.size(0) == s0 failed: y.size(0) is 5, s0 is 3 (equal sizes share a symbol, main.cpp:9)");
  EXPECT_EQ(failure(e, Call({filled({1, 4}, 0), filled({1, 4}, 1)})),
            "x.size(0) >= 2 failed: x.size(0) is 1 (first size, main.cpp:9)");
  EXPECT_EQ(failure(e, Call({filled({3, 4}, 0), filled({3}, 1)})), "y has rank 1, not 2");
  EXPECT_EQ(failure(e, Call({filled({3, 4}, 0), Array::empty({3, 4}, Dtype::f64)})), "y.dtype is f64, not f32");
  EXPECT_EQ(failure(e, Call({filled({3, 4}, 0), Array::empty({3, 4}, Dtype::f32, {DeviceKind::null_gpu, 0})})),
            "y.device is null, not cpu");
  EXPECT_EQ(failure(e, Call({filled({3, 4}, 0)})), "the call has 1 tensors and 0 scalars, not 2 and 0");
  const Array x = filled({4, 3}, 0);
  const Array transposed = x.with_layout(Layout{{3, 4}, {1, 3}, 0});
  EXPECT_EQ(failure(e, Call({transposed, filled({3, 4}, 0)})),
            "x.stride(1) == 1 failed: x.stride(1) is 3 (row-major, main.cpp:9)");
}

TEST(PlanGuards, DivisibilityOfASymbol) {
  const Executable e = executable(R"(plan @p {
    input x f32 rank 1 cpu
    bind s0 in [0, inf] multiple 4 = x.size(0)
  })");
  EXPECT_EQ(failure(e, Call({filled({8}, 0)})), "fits");
  EXPECT_EQ(failure(e, Call({filled({6}, 0)})), "x.size(0) % 4 == 0 failed: x.size(0) is 6");
}

TEST(PlanGuards, ConditionsAndScalars) {
  const Executable e = executable(R"(plan @p {
    input x f32 rank 1 cpu
    scalar alpha f64
    scalar n i64
    bind s0 in [0, inf] = x.size(0)
    bind s1 in [0, inf] = n
    guard scalar alpha > 0.5 because "alpha > 0.5" at "f.cpp":2
    guard where s0 < s1 because "shorter" at "f.cpp":3
    guard where floormod(s0, s1) == 3
  })");
  auto call = [](std::int64_t size, double alpha, std::int64_t n) {
    return Call({filled({size}, 0)}, {ScalarValue::of(alpha), ScalarValue::of(n)});
  };
  EXPECT_EQ(failure(e, call(3, 1.0, 5)), "fits");
  EXPECT_EQ(failure(e, call(3, 0.5, 5)), "scalar alpha > 0.5 failed: alpha is 0.5 (alpha > 0.5, f.cpp:2)");
  EXPECT_EQ(failure(e, call(3, std::nan(""), 5)).substr(0, 25), "scalar alpha > 0.5 failed");
  const std::string longer = failure(e, call(7, 1.0, 5));
  EXPECT_NE(longer.find("failed: s0 is 7, s1 is 5 (shorter, f.cpp:3)"), std::string::npos) << longer;
  // The remainder by 0 has no value, so the guard cannot hold.
  EXPECT_NE(failure(e, call(0, 1.0, 0)), "fits");
  EXPECT_EQ(failure(e, Call({filled({3}, 0)}, {ScalarValue::of(std::int64_t{1}), ScalarValue::of(std::int64_t{5})})),
            "alpha is passed as i64, not f64");
}

TEST(PlanGuards, Pointers) {
  const Executable e = executable(R"(plan @p {
    input x f32 rank 1 cpu
    input y f32 rank 1 cpu
    guard aligned x 64
    guard disjoint x y
  })");
  const Array base = filled({64}, 0);
  auto part = [&](std::int64_t offset, std::int64_t size, std::int64_t stride = 1) {
    return base.with_layout(Layout{{size}, {stride}, offset});
  };
  EXPECT_EQ(failure(e, Call({part(0, 16), part(16, 16)})), "fits");
  EXPECT_EQ(failure(e, Call({part(0, 17), part(16, 16)})), "disjoint x y failed: they share memory");
  EXPECT_EQ(failure(e, Call({part(16, 16, -1), part(17, 16)})), "fits");
  EXPECT_EQ(failure(e, Call({part(16, 17, -1), part(0, 1)})), "disjoint x y failed: they share memory");
  EXPECT_EQ(failure(e, Call({part(0, 0), part(0, 5)})), "fits");
  EXPECT_NE(failure(e, Call({part(1, 4), part(16, 16)})).find("aligned x 64 failed: its address is 0x"),
            std::string::npos);
  const Executable same = executable(R"(plan @p {
    input x f32 rank 1 cpu
    input y f32 rank 1 cpu
    guard same x y
  })");
  EXPECT_EQ(failure(same, Call({part(3, 4), part(3, 9)})), "fits");
  EXPECT_EQ(failure(same, Call({part(3, 4), part(4, 4)})), "same x y failed: they start at unlike places");
}

TEST(PlanGuards, OrderedCheapestFirstWithoutDuplicates) {
  Plan p = plan_of(R"(plan @p {
    input x f32 rank 2 cpu
    input y f32 rank 2 cpu
    scalar a f64
    bind s0 in [0, inf] = x.size(0)
    guard where s0 < 100
    guard disjoint x y
    guard y.size(0) == s0
    guard scalar a == 1.0
    guard x.stride(1) == 1
    guard aligned x 16
    guard x.stride(1) == 1 because "again"
  })");
  order_guards(p);
  std::string all;
  for (const Guard& g : p.guards) all += to_text(g, p) + "; ";
  EXPECT_EQ(all, "x.stride(1) == 1; aligned x 16; y.size(0) == s0; scalar a == 1.0; disjoint x y; where s0 <= 99; ");
}

}  // namespace
}  // namespace stax::plan::test
