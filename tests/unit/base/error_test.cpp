#include <gtest/gtest.h>
#include <stax/base/error.h>

namespace stax {

TEST(Error, SaysWhatWhereAndRemedy) {
  UserError e("sum: axis 2 is out of range for rank 2", SourceLoc("main.cpp", 7), "Use an axis in [-2, 2)");
  EXPECT_STREQ(e.what(), "sum: axis 2 is out of range for rank 2 at main.cpp:7. Use an axis in [-2, 2)");
  EXPECT_EQ(e.problem(), "sum: axis 2 is out of range for rank 2");
}

TEST(Error, UnknownPlaceIsLeftOut) { EXPECT_STREQ(UserError("no such file: a.npy").what(), "no such file: a.npy"); }

TEST(Error, CheckThrowsInternalError) {
  EXPECT_THROW(STAX_CHECK(1 + 1 == 3, "arithmetic"), InternalError);
  EXPECT_NO_THROW(STAX_CHECK(1 + 1 == 2, "arithmetic"));
}

}  // namespace stax
