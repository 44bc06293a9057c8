#include <stax/base/error.h>

#include "helpers.h"
#include "runtime/cpu/caching_allocator.h"
#include "runtime/null/null_runtime.h"

namespace stax::plan::test {
namespace {

TEST(PlanRun, LaunchesAndReturns) {
  const Executable e = executable(kAdd, {{"add_f32", add_f32}});
  for (const std::int64_t rows : {2, 3, 100}) {
    const auto out = run(e, Call({filled({rows, 5}, 1), filled({rows, 5}, 2)}));
    ASSERT_EQ(out[0].sizes(), (Dims{rows, 5}));
    EXPECT_TRUE(out[0].is_contiguous());
    for (std::int64_t i = 0; i < rows * 5; ++i) ASSERT_EQ(out[0].data_as<float>()[i], 3 + 2 * static_cast<float>(i));
  }
}

TEST(PlanRun, InputsStartAtTheirFirstElement) {
  const Executable e = executable(kAdd, {{"add_f32", add_f32}});
  const Array base = filled({100}, 0);
  const Array x = base.with_layout(Layout{{2, 3}, {3, 1}, 10}), y = base.with_layout(Layout{{2, 3}, {3, 1}, 50});
  EXPECT_EQ(run(e, Call({x, y}))[0].data_as<float>()[5], 15 + 55);
}

// out = ((x·w + b) gelu-free) with a temporary, then a copy of its transpose.
constexpr std::string_view kMatmul = R"(plan @mm {
  input  x f32 rank 2 cpu
  input  w f32 rank 2 cpu
  input  b f32 rank 1 cpu
  bind   m in [0, inf] = x.size(0)
  bind   k in [0, inf] = x.size(1)
  bind   n in [0, inf] = w.size(1)
  buffer x f32 cpu input x
  buffer w f32 cpu input w
  buffer b f32 cpu input b
  buffer t f32 cpu temporary bytes 4*m*n
  buffer out f32 cpu output bytes 4*m*n
  matmul linear f32 a x[m, k] strides (k, 1) offset 0 b w[k, n] strides (n, 1) offset 0 out t[m, n] strides (n, 1) offset 0 bias b[m, n] strides (0, 1) offset 0 activation relu weight
  copy   t[n, m] strides (1, n) offset 0 to out[n, m] strides (m, 1) offset 0
  return out f32 out[n, m] strides (m, 1) offset 0
}
)";

TEST(PlanRun, MatmulCopyAndTemporaries) {
  Plan p = plan_of([] {
    std::string text(kMatmul);
    text.insert(text.find("  matmul"), "  alloc t\n");
    return text;
  }());
  place_allocations(p);
  EXPECT_NE(to_text(p).find("alloc  out\n  copy"), std::string::npos) << to_text(p);
  EXPECT_NE(to_text(p).find("free   t\n  return"), std::string::npos) << to_text(p);
  const Executable e(std::move(p), {});
  const std::size_t before = runtime::CachingAllocator::cpu().stats().in_use;
  {
    const Array x = filled({2, 3}, -3), w = filled({3, 2}, -1), b = filled({2}, 10);
    const Array out = run(e, Call({x, w, b}))[0];
    EXPECT_EQ(out.sizes(), (Dims{2, 2}));
    // x = [-3 -2 -1; 0 1 2], w = [-1 0; 1 2; 3 4], b = [10 11]
    EXPECT_EQ(out.data_as<float>()[0], 8);
    EXPECT_EQ(out.data_as<float>()[1], 17);
    EXPECT_EQ(out.data_as<float>()[2], 3);
    EXPECT_EQ(out.data_as<float>()[3], 21);
    // A weight that was written is seen.
    w.data_as<float>()[0] = 9;
    w.storage()->bump_version();
    EXPECT_EQ(run(e, Call({x, w, b}))[0].data_as<float>()[0], 0);
  }
  runtime::CachingAllocator::cpu().release_cached();
  EXPECT_LE(runtime::CachingAllocator::cpu().stats().in_use, before + 4096);  // cached primitives stay
}

TEST(PlanRun, OutputsMayViewInputsAndEachOther) {
  const Executable e = executable(R"(plan @views {
    input x f32 rank 2 cpu
    bind s0 in [0, inf] = x.size(0)
    bind s1 in [0, inf] = x.size(1)
    buffer x f32 cpu input x
    buffer o f32 cpu output bytes 4*s0
    return itself f32 x[s0, s1] strides (s1, 1) offset 0
    return row f32 x[s1] strides (1) offset s1
    return fresh f32 o[s0] strides (1) offset 0
    return first f32 o[] strides () offset 0
  })");
  const Array base = filled({20}, 0);
  const Array x = base.with_layout(Layout{{3, 4}, {4, 1}, 2});
  const auto out = run(e, Call({x}));
  EXPECT_EQ(out[0].storage(), x.storage());
  EXPECT_EQ(out[0].layout(), x.layout());
  EXPECT_EQ(out[1].storage(), x.storage());
  EXPECT_EQ(out[1].data_as<float>()[0], 6);
  EXPECT_EQ(out[2].storage(), out[3].storage());
  EXPECT_EQ(out[3].rank(), 0);
}

TEST(PlanRun, AnOutputMayReplaceAnArgument) {
  const Executable e = executable(kAdd, {{"add_f32", add_f32}});
  Array x = filled({2, 3}, 1), y = filled({2, 3}, 1);
  const Array* pointers[] = {&x, &y};
  e.run({pointers, {}}, std::span(&x, 1));
  EXPECT_EQ(x.data_as<float>()[5], 12);
}

TEST(PlanRun, ScalarsAndDerivedScalars) {
  const Executable e = executable(
      R"(plan @p {
    input x f32 rank 1 cpu
    scalar alpha f64
    bind s0 in [0, inf] = x.size(0)
    derive n i64 = s0*2
    derive d f64 = s0 + 1
    buffer o f64 cpu output bytes 24
    kernel k symbol k module 0
    launch k (o; ; n, alpha, d)
    return o f64 o[3] strides (1) offset 0
  })",
      {{"k", [](void* const* buffers, const std::int64_t*, const std::uint64_t* s, int threads, runtime::ErrorWord*) {
          auto* o = static_cast<double*>(buffers[0]);
          o[0] = static_cast<double>(static_cast<std::int64_t>(s[0])) * (threads > 0);
          o[1] = std::bit_cast<double>(s[1]);
          o[2] = std::bit_cast<double>(s[2]);
        }}});
  const auto out = run(e, Call({filled({5}, 0)}, {ScalarValue::of(2.5)}));
  EXPECT_EQ(out[0].data_as<double>()[0], 10);
  EXPECT_EQ(out[0].data_as<double>()[1], 2.5);
  EXPECT_EQ(out[0].data_as<double>()[2], 6);
}

constexpr std::string_view kWrite = R"(plan @write {
  input  x f32 rank 1 cpu written
  buffer x f32 cpu input x
  kernel k symbol k module 0
  origin embedding at "main.cpp":6
  launch k (x; ; )
}
)";

TEST(PlanRun, WrittenInputsGetANewVersion) {
  const Executable e = executable(kWrite, {{"k", [](void* const* b, const std::int64_t*, const std::uint64_t*, int,
                                                    runtime::ErrorWord*) { *static_cast<float*>(b[0]) = 7; }}});
  const Array x = filled({3}, 0);
  const std::uint64_t version = x.storage()->version();
  run(e, Call({x}));
  EXPECT_EQ(x.data_as<float>()[0], 7);
  EXPECT_EQ(x.storage()->version(), version + 1);
}

TEST(PlanRun, ReadOnlyMemoryIsRefused) {
  const Executable e = executable(kWrite, {{"k", add_f32}});
  float memory[3] = {1, 2, 3};
  const Array x(std::make_shared<Storage>(memory, sizeof memory, Device{}, nullptr, true), Dtype::f32,
                Layout{{3}, {1}, 0});
  try {
    run(e, Call({x}));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.problem(), "x is written, but its memory is read-only");
    EXPECT_EQ(error.remedy(), "Pass a copy (clone())");
  }
}

template <std::int64_t code>
void report(void* const*, const std::int64_t*, const std::uint64_t*, int, runtime::ErrorWord* error) {
  *error = {code, 0, 30522, 30522};
}

TEST(PlanRun, ErrorWordsBecomeUserErrors) {
  auto problem = [](runtime::CpuKernel k) -> std::string {
    const Executable e = executable(kWrite, {{"k", k}});
    const Array x = filled({3}, 0);
    const std::uint64_t version = x.storage()->version();
    try {
      run(e, Call({x}));
    } catch (const UserError& error) {
      EXPECT_EQ(x.storage()->version(), version + 1);
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(problem(report<1>).find("embedding: index 30522 is out of range [0, 30522) at main.cpp:6"),
            std::string::npos)
      << problem(report<1>);
  EXPECT_NE(problem(report<3>).find("embedding: index 30522 is out of range [-30522, 30522)"), std::string::npos);
  EXPECT_NE(problem(report<2>).find("embedding: integer division by zero at main.cpp:6"), std::string::npos);
}

// A kernel that several launches share reports its own numbers.
TEST(PlanRun, OriginsOfALaunch) {
  const Executable e = executable(R"(plan @p {
    kernel k symbol k module 0
    origin add at "a.cpp":1
    origin gather at "b.cpp":2
    launch k (; ; ) origins (1)
  })",
                                  {{"k", report<1>}});
  try {
    run(e, Call({}));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.problem(), "gather: index 30522 is out of range [0, 30522)");
    EXPECT_EQ(error.where().line, 2);
  }
}

TEST(PlanRun, SizesThatDoNotFitAreErrors) {
  const Executable e = executable(R"(plan @big {
    scalar n i64
    bind s0 in [0, inf] = n
    buffer o f32 cpu output bytes 4*s0*s0
    return o f32 o[s0, s0] strides (s0, 1) offset 0
  })");
  EXPECT_THROW(run(e, Call({}, {ScalarValue::of(std::int64_t{1} << 33)})), UserError);
  EXPECT_THROW(run(e, Call({}, {ScalarValue::of(std::int64_t{1} << 29)})), DeviceError);
  EXPECT_EQ(run(e, Call({}, {ScalarValue::of(std::int64_t{0})}))[0].numel(), 0);
}

TEST(PlanRun, TheNullDevicePlansAndRunsNothing) {
  Plan p = plan_of(R"(plan @null {
    input  x f32 rank 1 null
    bind   s0 in [0, inf] = x.size(0)
    buffer x f32 null input x
    buffer t f32 null temporary bytes 4*s0
    buffer o f32 null output bytes 4*s0
    kernel k symbol k module 0
    alloc t
    launch k (x, t; s0; ) grid (ceildiv(s0, 256))
    launch k (t, o; s0; ) grid (ceildiv(s0, 256))
    return o f32 o[s0] strides (1) offset 0
  })");
  place_allocations(p);
  auto& device = runtime::runtime_for({DeviceKind::null_gpu, 0});
  const Executable e(std::move(p), {device.load_module({"k", "", "sm_90"})});
  const auto before = runtime::null_counts();
  const auto out = run(e, Call({Array::empty({1000}, Dtype::f32, {DeviceKind::null_gpu, 0})}));
  EXPECT_EQ(out[0].data(), nullptr);
  EXPECT_EQ(out[0].storage()->bytes(), 4000u);
  EXPECT_EQ(runtime::null_counts().launches - before.launches, 2u);
}

}  // namespace
}  // namespace stax::plan::test
