#include "base/hash.h"

#include <gtest/gtest.h>

namespace stax::base {

TEST(Sha256, GivesThePublishedDigests) {
  // FIPS 180-4 examples.
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, HexReadsBack) {
  const Digest digest = sha256("x");
  EXPECT_EQ(Digest::from_hex(digest.hex()), digest);
  EXPECT_FALSE(Digest::from_hex("12"));
  EXPECT_FALSE(Digest::from_hex(std::string(64, 'g')));
}

TEST(KeyBuilder, FieldsDoNotRunTogether) {
  const auto key = [](std::string_view a, std::string_view b) { return KeyBuilder().add("a", a).add("b", b).finish(); };
  EXPECT_EQ(key("x", "y"), key("x", "y"));
  EXPECT_NE(key("xy", ""), key("x", "y"));
  EXPECT_NE(KeyBuilder().add("ab", "c").finish(), KeyBuilder().add("a", "bc").finish());
}

TEST(KeyBuilder, TypesAndOrderCount) {
  EXPECT_NE(KeyBuilder().add("n", 1).finish(), KeyBuilder().add("n", true).finish());
  EXPECT_NE(KeyBuilder().add("n", "1").finish(), KeyBuilder().add("n", true).finish());
  EXPECT_NE(KeyBuilder().add("x", 0.0).finish(), KeyBuilder().add("x", -0.0).finish());
  EXPECT_NE(KeyBuilder().add("a", 1).add("b", 2).finish(), KeyBuilder().add("b", 2).add("a", 1).finish());
}

TEST(StableHash, IsFixedForever) {
  EXPECT_EQ(stable_hash(""), 0xefd01f60ba992926ULL);
  EXPECT_NE(stable_hash("a"), stable_hash("b"));
  EXPECT_NE(hash_combine(1, 2), hash_combine(2, 1));
}

}  // namespace stax::base
