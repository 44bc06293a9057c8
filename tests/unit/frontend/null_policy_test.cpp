// Compiled functions on the null device: kernels count on lengths and addresses like those at hand, and one artifact
// without such promises serves everything else.
#include "helpers.h"
#include "runtime/null/null_runtime.h"

namespace stax {
namespace {

constexpr Device kNull{DeviceKind::null_gpu, 0};

Tensor on_null(std::int64_t rows, std::int64_t length) { return zeros({rows, length}).to(kNull); }

auto softmax_of(Dynamic dynamic) {
  return compile([](Tensor x) { return softmax(x, -1); }, {.dynamic = dynamic, .fullgraph = true});
}

// False where the Triton workers cannot run.
template <class F>
bool compiles(F& f) {
  try {
    (void)f(on_null(8, 4096));
    return true;
  } catch (const UserError&) {
    return false;
  }
}
#define STAX_NEED_TRITON(f) \
  if (!compiles(f)) GTEST_SKIP() << "no Triton: run `make deps`"

TEST(NullPolicy, AlternatingLengthsNeedTwoArtifacts) {
  auto f = softmax_of(Dynamic::yes);
  STAX_NEED_TRITON(f);
  for (int i = 0; i < 3; ++i)
    for (const std::int64_t length : {4096, 4097, 1000, 12345, 16, 100000}) (void)f(on_null(8, length));
  EXPECT_EQ(f.stats().compiles, 2U) << f.why_recompiled();
  EXPECT_NE(f.why_recompiled().find("floormod(s1, 4) == 0 failed: s1 is 4097"), std::string::npos)
      << f.why_recompiled();
}

TEST(NullPolicy, TheFirstArtifactStaysInUse) {
  auto f = softmax_of(Dynamic::yes);
  STAX_NEED_TRITON(f);
  (void)f(on_null(8, 4097));
  const std::uint64_t misses = f.stats().guard_misses;
  (void)f(on_null(64, 2048));
  EXPECT_EQ(f.stats().guard_misses, misses);
  (void)f(on_null(64, 2049));
  EXPECT_GT(f.stats().guard_misses, misses);
}

TEST(NullPolicy, UnalignedTensorsAreServed) {
  auto f = softmax_of(Dynamic::yes);
  STAX_NEED_TRITON(f);
  const Tensor wide = on_null(8, 4096 + 16);
  const Tensor odd = wide.index({Slice(), Slice(1, 4097)}), even = wide.index({Slice(), Slice(16, 4112)});
  for (int i = 0; i < 3; ++i) {
    (void)f(odd);
    (void)f(even);
  }
  EXPECT_LE(f.stats().compiles, 3U) << f.why_recompiled();
}

TEST(NullPolicy, FirstCallsMayBeUnaligned) {
  auto f = softmax_of(Dynamic::no);
  STAX_NEED_TRITON(f);
  auto g = softmax_of(Dynamic::no);
  (void)g(on_null(8, 4097).index({Slice(1, 8)}));  // 16388 bytes on
  EXPECT_EQ(g.stats().compiles, 1U);
}

TEST(NullPolicy, ReportsSpeakOfTheGpu) {
  auto f = softmax_of(Dynamic::yes);
  STAX_NEED_TRITON(f);
  const std::string text = f.explain(on_null(8, 4096));
  EXPECT_NE(text.find("schedule triton"), std::string::npos) << text;
  EXPECT_NE(text.find("promise where s1 <= 4096 because"), std::string::npos) << text;
  const KernelInfo kernel = f.artifacts().at(0).kernels.at(0);
  EXPECT_NE(kernel.source.find("@triton.jit"), std::string::npos);
  ASSERT_TRUE(kernel.gpu);
  EXPECT_EQ(kernel.gpu->threads % 32, 0);
  EXPECT_GT(kernel.gpu->registers, 0);
  EXPECT_EQ(kernel.gpu->spill_bytes, 0);
  EXPECT_NE(text.find(" registers a thread"), std::string::npos) << text;
}

TEST(NullPolicy, LaunchesAreCountedAndValuesCannotBeRead) {
  auto f = compile([](Tensor x) { return sum(relu(x) * 2, -1); }, {.fullgraph = true});
  STAX_NEED_TRITON(f);
  const std::uint64_t before = runtime::null_counts().launches;
  const Tensor y = f(on_null(8, 4096));
  EXPECT_EQ(runtime::null_counts().launches - before, 1U);
  EXPECT_EQ(y.device(), kNull);
  EXPECT_THROW((void)y.to_vector<float>(), DeviceError);
}

// A program under STAX_DEVICE=null.
TEST(NullPolicy, AProgramRunsUnchangedOnTheDefaultDevice) {
  auto f = softmax_of(Dynamic::yes);
  STAX_NEED_TRITON(f);
  set_default_device(kNull);
  struct Restore {
    ~Restore() { set_default_device({}); }
  } restore;
  const auto layer = compile([](Tensor x, Tensor w) { return gelu(matmul(x, w)) + arange(32, f32); },
                             {.dynamic = Dynamic::yes, .fullgraph = true});
  const runtime::NullCounts before = runtime::null_counts();
  const Tensor y = layer(ones({8, 16}), ones({16, 32}));
  EXPECT_EQ(y.device(), kNull);
  EXPECT_EQ(runtime::null_counts().matmuls - before.matmuls, 1U);
  EXPECT_EQ(layer.stats().fallbacks, 0U);
  EXPECT_EQ((y * 2 + 1).device(), kNull) << "operators outside";
}

TEST(NullPolicy, WrittenInputsAndViews) {
  auto f = compile(
      [](Tensor x) {
        x.copy_(x + 1);
        return x.t();
      },
      {.fullgraph = true});
  STAX_NEED_TRITON(f);
  Tensor x = on_null(8, 4096);
  const Tensor y = f(x);
  EXPECT_EQ(y.device(), kNull);
  EXPECT_EQ(y.size(0).value(), 4096);
}

}  // namespace
}  // namespace stax
