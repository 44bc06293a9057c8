// How far the elements of a layout lie apart.
#include <gtest/gtest.h>
#include <stax/base/error.h>
#include <stax/tensor/array.h>

#include <limits>

namespace stax {
namespace {

using Extent = std::pair<std::int64_t, std::int64_t>;
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

TEST(Layout, ExtentIsFromTheLowestToTheHighestElement) {
  EXPECT_EQ(extent_of({{2, 3}, {3, 1}, 4}), (Extent{4, 9}));
  EXPECT_EQ(extent_of({{2, 3}, {-3, 1}, 4}), (Extent{1, 6}));
  EXPECT_EQ(extent_of({{1, 3}, {kLowest, 0}, 0}), (Extent{0, 0}));
  EXPECT_EQ(extent_of({{0, 3}, {kLowest, 7}, 5}), (Extent{0, -1}));
}

TEST(Layout, ExtentsThatLeave64BitsAreRefused) {
  const auto problem = [](const Layout& layout) -> std::string {
    try {
      extent_of(layout);
    } catch (const UserError& e) {
      return e.problem();
    }
    return "fine";
  };
  EXPECT_EQ(problem({{2, 1}, {1 + kLowest, -1}, 0}),
            "a tensor of shape [2, 1] with strides [-9223372036854775807, -1] does not fit 64 bits");
  EXPECT_NE(problem({{1 << 30, 1 << 30}, {std::int64_t{1} << 40, 1}, 0}), "fine");
  EXPECT_NE(problem({{3, 3}, {std::int64_t{1} << 60, std::int64_t{1} << 60}, 0}), "fine");
  EXPECT_NE(problem({{2, 2}, {std::int64_t{1} << 61, -(std::int64_t{1} << 61)}, -1}), "fine");
}

}  // namespace
}  // namespace stax
