// Statistics of rows with infinities and NaN: compiled code gives what evaluation gives, in every form.
#include <cmath>

#include "helpers.h"

namespace stax {
namespace {

constexpr float kInf = INFINITY, kNan = NAN;

// Kinds of rows, by column too.
Tensor rows(std::int64_t length) {
  const std::vector<float> marks{kInf, -kInf, kNan, 0};
  std::vector<float> x;
  for (std::int64_t row = 0; row < 12; ++row)
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t place = row / 4 == 0 ? 0 : row / 4 == 1 ? length / 2 : length - 1;
      x.push_back(i == place ? marks[static_cast<std::size_t>(row % 4)] : static_cast<float>(i % 5));
    }
  return from_vector(x, {12, length});
}

void expect_same(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) || std::isinf(b[i]))
      EXPECT_TRUE(std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i]) << i << ": " << a[i] << ", not " << b[i];
    else
      EXPECT_NEAR(a[i], b[i], 1e-5) << i;
  }
}

TEST(Infinities, MeansAndVariances) {
  for (const int axis : {0, 1})
    for (const Dynamic dynamic : {Dynamic::no, Dynamic::yes}) {
      const auto f = compile(
          [axis](Tensor x) {
            const auto [variance, mean] = var_mean(x, axis);
            return std::vector{variance, mean};
          },
          {.dynamic = dynamic, .fullgraph = true});
      for (const std::int64_t length : {3, 37, 4099}) {
        SCOPED_TRACE(length);
        const Tensor x = axis == 1 ? rows(length) : rows(length).t().contiguous();
        const std::vector<Tensor> compiled = f(x);
        const auto [variance, mean] = var_mean(x, axis);
        expect_same(compiled[0].to_vector<float>(), variance.to_vector<float>());
        expect_same(compiled[1].to_vector<float>(), mean.to_vector<float>());
        EXPECT_EQ(mean.to_vector<float>()[4], kInf);
        EXPECT_EQ(mean.to_vector<float>()[5], -kInf);
      }
    }
}

}  // namespace
}  // namespace stax
