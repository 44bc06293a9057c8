// The encoder's graph for a GPU: every kernel compiles for sm_90 and the plan runs on the null device.
#if __has_include(<stax/stax.h>)
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "encoder.h"

namespace minilm {
namespace {

using stax::Tensor;

constexpr stax::Device kNull{stax::DeviceKind::null_gpu, 0};

Tensor blank(const std::vector<std::int64_t>& sizes, stax::Dtype dtype) {
  stax::Shape shape;
  for (const std::int64_t n : sizes) shape.push_back(n);
  return stax::zeros(shape, dtype).to(kNull);
}

Weights blank_weights(stax::Dtype t) {
  const auto linear = [&](int outputs, int inputs) { return Linear{blank({outputs, inputs}, t), blank({outputs}, t)}; };
  const auto norm = [&] { return Norm{blank({kHidden}, t), blank({kHidden}, t)}; };
  Weights w{blank({1000, kHidden}, t), blank({512, kHidden}, t), blank({kHidden}, t), norm(), {}};
  for (int i = 0; i < kLayers; ++i)
    w.layers.push_back({linear(3 * kHidden, kHidden), linear(kHidden, kHidden), norm(), linear(kIntermediate, kHidden),
                        linear(kHidden, kIntermediate), norm()});
  return w;
}

class MiniLmOnNull : public testing::TestWithParam<stax::Dtype> {};

TEST_P(MiniLmOnNull, TheWholeEncoderIsCompiled) {
  ::setenv("STAX_PYTHON", STAX_SOURCE_DIR "/.venv/bin/python3", 0);
  const std::function<Tensor(Tensor, Tensor)> encoder = [weights = blank_weights(GetParam())](Tensor ids, Tensor mask) {
    return encode(weights, std::move(ids), std::move(mask));
  };
  const auto f = stax::compile(encoder, {.dynamic = stax::Dynamic::yes, .fullgraph = true, .strict_native = true});
  try {
    (void)f(blank({32, 128}, stax::i64), blank({32, 128}, stax::f32));
  } catch (const stax::UserError& e) {
    GTEST_SKIP() << e.what();
  }
  const stax::ArtifactInfo artifact = f.artifacts().at(0);
  EXPECT_EQ(artifact.library_calls.size(), 6U * kLayers);  // four linear layers and two products of attention each
  // Softmax, two norms, gelu, and the copies that give heads one batch axis.
  EXPECT_LE(artifact.kernels.size(), 8U * kLayers + 4) << artifact.fusion;
  (void)f(blank({7, 33}, stax::i64), blank({7, 33}, stax::f32));
  (void)f(blank({5, 128}, stax::i64), blank({5, 128}, stax::f32));
  EXPECT_LE(f.stats().compiles, 2U) << f.why_recompiled();
  EXPECT_EQ(f.stats().fallbacks, 0U);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, MiniLmOnNull, testing::Values(stax::f32, stax::bf16),
                         [](const auto& info) { return info.param == stax::f32 ? "f32" : "bf16"; });

}  // namespace
}  // namespace minilm
#endif
