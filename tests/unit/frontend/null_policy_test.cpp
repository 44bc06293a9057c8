// Compiled functions on the null device: kernels count on lengths and addresses like those at hand; what that excludes
// is served by artifacts that count on less, and calls that allow more get artifacts that count on more.
#include <fmt/format.h>

#include <thread>

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

// Promises of the schedules of each artifact, in the order of their compiles.
std::vector<std::vector<std::string>> promises_of(const Compiled<Tensor(Tensor)>& f) {
  std::vector<std::vector<std::string>> all;
  for (const ArtifactInfo& a : f.artifacts()) {
    auto& texts = all.emplace_back();
    for (const std::string& g : a.guards)
      if (g.find("-byte accesses") != std::string::npos || g.find("a row in registers") != std::string::npos)
        texts.push_back(g.substr(0, g.find(" because")));
  }
  return all;
}
using Promises = std::vector<std::vector<std::string>>;

TEST(NullPolicy, AlternatingLengthsNeedThreeArtifacts) {
  auto f = softmax_of(Dynamic::yes);
  STAX_NEED_TRITON(f);
  for (int i = 0; i < 3; ++i)
    for (const std::int64_t length : {4096, 4097, 1000, 12345, 16, 100000, 99999}) (void)f(on_null(8, length));
  EXPECT_EQ(f.stats().compiles, 3U) << f.why_recompiled();
  EXPECT_EQ(promises_of(f), (Promises{{"aligned x0 16", "where floormod(s1, 4) == 0", "where s1 <= 4096"},
                                      {"aligned x0 16"},
                                      {"aligned x0 16", "where floormod(s1, 16) == 0", "where floormod(s1, 4) == 0"}}))
      << "short rows of whole vectors, all rows, rows of whole vectors (also in the parts of a row that is split)";
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

TEST(NullPolicy, LengthsOfWholeVectorsAfterOthersGetAnArtifact) {
  for (const Dynamic dynamic : {Dynamic::yes, Dynamic::automatic}) {
    auto f = softmax_of(dynamic);
    try {
      (void)f(on_null(8, 999));
    } catch (const UserError& e) {
      GTEST_SKIP() << e.what();
    }
    const std::uint64_t before = dynamic == Dynamic::automatic ? 1 : 0;  // one for the first size alone
    (void)f(on_null(8, 1001));
    (void)f(on_null(8, 1003));
    EXPECT_EQ(f.stats().compiles, before + 1) << f.why_recompiled();
    (void)f(on_null(8, 1024));
    EXPECT_EQ(f.stats().compiles, before + 2) << f.why_recompiled();
    const std::string size = dynamic == Dynamic::automatic ? "s0" : "s1";
    EXPECT_EQ(promises_of(f).back(),
              (std::vector<std::string>{"aligned x0 16", fmt::format("where floormod({}, 4) == 0", size),
                                        fmt::format("where {} <= 1024", size)}));
    EXPECT_NE(f.why_recompiled().find(fmt::format(
                  "compile {}: artifact {} serves the call, but its kernels do not count on floormod({}, 4) "
                  "== 0",
                  before + 2, before, size)),
              std::string::npos)
        << f.why_recompiled();
    // No more of them, whatever the length; the artifact of whole vectors is asked first.
    const std::uint64_t misses = f.stats().guard_misses;
    for (const std::int64_t length : {1024, 512, 1000, 16, 1020}) (void)f(on_null(8, length));
    EXPECT_EQ(f.stats().guard_misses, misses);
    for (const std::int64_t length : {1001, 1024, 1003, 7, 512}) (void)f(on_null(8, length));
    EXPECT_EQ(f.stats().compiles, before + 2) << f.why_recompiled();
  }
}

TEST(NullPolicy, AlignedTensorsAfterOthersGetAnArtifact) {
  auto f = softmax_of(Dynamic::no);
  STAX_NEED_TRITON(f);
  auto g = softmax_of(Dynamic::no);
  const Tensor wide = on_null(8, 4096 + 16);
  (void)g(wide.index({Slice(), Slice(1, 4097)}));
  EXPECT_EQ(promises_of(g), (Promises{{}}));
  (void)g(wide.index({Slice(), Slice(2, 4098)}));
  EXPECT_EQ(g.stats().compiles, 1U);
  (void)g(wide.index({Slice(), Slice(4, 4100)}));
  EXPECT_EQ(promises_of(g), (Promises{{}, {"aligned x0 16"}}));
  EXPECT_NE(g.why_recompiled().find("artifact 0 serves the call, but its kernels do not count on aligned x0 16"),
            std::string::npos)
      << g.why_recompiled();
  for (const int at : {0, 1, 4, 3, 8}) (void)g(wide.index({Slice(), Slice(at, 4096 + at)}));
  EXPECT_EQ(g.stats().compiles, 2U);
}

TEST(NullPolicy, ThreadsShareTheArtifactsOfAnyLength) {
  auto f = softmax_of(Dynamic::yes);
  try {
    (void)f(on_null(8, 1001));
  } catch (const UserError& e) {
    GTEST_SKIP() << e.what();
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&f, t] {
      const Tensor even = on_null(8, 1024 - 4 * t), odd = on_null(8, 999 - 2 * t);
      for (int i = 0; i < 200; ++i) {
        (void)f(even);
        (void)f(odd);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(f.stats().compiles, 2U) << f.why_recompiled();
  EXPECT_EQ(f.stats().fallbacks, 0U);
}

// The limit holds, and no call is left without an artifact for the sake of a faster one.
TEST(NullPolicy, TheLimitOfArtifactsHolds) {
  {
    auto f = softmax_of(Dynamic::yes);
    STAX_NEED_TRITON(f);
  }
  for (const int limit : {1, 2, 3, 4}) {
    auto f = compile([](Tensor x) { return softmax(x, -1); },
                     {.dynamic = Dynamic::yes, .fullgraph = true, .max_artifacts = limit});
    const Tensor odd = zeros({8 * 4096 + 1}).to(kNull).index({Slice(1, None)}).view({8, 4096});
    for (int i = 0; i < 2; ++i) {
      for (const std::int64_t length : {1001, 1024, 4096, 4097, 100000, 99999}) (void)f(on_null(8, length));
      (void)f(odd);
    }
    EXPECT_LE(f.stats().compiles, static_cast<std::uint64_t>(limit));
  }
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
