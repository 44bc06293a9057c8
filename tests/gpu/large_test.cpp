// Tensors beyond 2^31 elements: addresses that 32 bits cannot hold.
#include <gtest/gtest.h>
#include <stax/stax.h>

#include "runtime/device_runtime.h"

namespace stax {
namespace {

constexpr std::int64_t kElements = (std::int64_t{1} << 31) + 4099;

class GpuLarge : public testing::TestWithParam<Dynamic> {
 protected:
  void SetUp() override {
    try {
      (void)runtime::runtime_for(cuda(0));
    } catch (const DeviceError& e) {
      GTEST_SKIP() << e.what();
    }
    set_default_device(cuda(0));
  }
  void TearDown() override { set_default_device({}); }
};
INSTANTIATE_TEST_SUITE_P(Sizes, GpuLarge, testing::Values(Dynamic::no, Dynamic::yes));

TEST_P(GpuLarge, PointwiseAndSum) {
  const Tensor x = full({kElements}, 3, u8);
  x.index({Slice(kElements - 3, None)}).fill_(100);
  const auto f = compile([](Tensor a) { return std::vector<Tensor>{a + 4, sum(a.to(i64))}; }, {.dynamic = GetParam()});
  const std::vector<Tensor> y = f(x);
  EXPECT_EQ(y[1].item<std::int64_t>(), (kElements - 3) * 3 + 300);
  EXPECT_EQ(y[0].index({Slice(kElements - 5, None)}).to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{7, 7, 104, 104, 104}));
  EXPECT_EQ(y[0].index({Slice(0, 2)}).to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{7, 7}));
  EXPECT_EQ(sum(y[0].to(i64)).item<std::int64_t>(), (kElements - 3) * 7 + 312);
}

TEST_P(GpuLarge, RowsFarApart) {
  const std::int64_t rows = 70000, columns = 32768;  // 2.3e9 elements
  const Tensor x = full({rows, columns}, 1, u8);
  x.index({rows - 1}).fill_(2);
  const auto f = compile([](Tensor a) { return sum(a.to(i32), -1); }, {.dynamic = GetParam()});
  const Tensor y = f(x);
  EXPECT_EQ(y.index({rows - 1}).item<std::int64_t>(), 2 * columns);
  EXPECT_EQ(y.index({rows - 2}).item<std::int64_t>(), columns);
  EXPECT_EQ(y.index({0}).item<std::int64_t>(), columns);
}

}  // namespace
}  // namespace stax
