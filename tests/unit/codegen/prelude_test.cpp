// Assembly of the prelude: transitive closure, order, width, errors.
#include "codegen/cpp/prelude.h"

#include <gtest/gtest.h>
#include <stax/base/error.h>

#include <algorithm>
#include <vector>

namespace stax::codegen {
namespace {

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Prelude, GivesNeedsFirstAndOnce) {
  const std::string_view wanted[] = {"erf", "tanh", "exp"};
  const std::string text = prelude_text(wanted, 32);
  EXPECT_TRUE(text.starts_with("#define STAX_VB 32\n"));
  EXPECT_EQ(count(text, "f32v exp_poly(f32v r)"), 1u);
  EXPECT_LT(text.find("STAX_FN f32v mad("), text.find("f32v exp_poly(f32v r)"));
  EXPECT_LT(text.find("f32v exp_poly(f32v r)"), text.find("f32v erf(f32v x)"));
  EXPECT_EQ(text.find("f32v log(f32v x)"), std::string::npos);
  EXPECT_EQ(text.find("#include"), std::string::npos);
}

TEST(Prelude, EverySnippetAssemblesWithoutInclude) {
  for (const auto& snippet : prelude_snippets()) {
    const std::string_view wanted[] = {snippet.name};
    EXPECT_EQ(prelude_text(wanted, 64).find("#include"), std::string::npos) << snippet.name;
  }
}

TEST(Prelude, UnknownNamesAndWidthsAreInternalErrors) {
  const std::string_view unknown[] = {"gamma"}, known[] = {"exp"};
  EXPECT_THROW(prelude_text(unknown, 64), InternalError);
  EXPECT_THROW(prelude_text(known, 48), InternalError);
}

TEST(Prelude, HashIsSha256) {
  EXPECT_EQ(prelude_hash().size(), 64u);
  EXPECT_EQ(prelude_hash().find_first_not_of("0123456789abcdef"), std::string_view::npos);
}

}  // namespace
}  // namespace stax::codegen
