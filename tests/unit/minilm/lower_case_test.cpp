#include "helpers.h"

namespace minilm {

TEST(LowerCase, EveryScriptWithCases) {
  EXPECT_EQ(split_words("HeLLo ПРИВЕТ \U00010400"), (Words{"hello", "привет", "\U00010428"}));
}

TEST(LowerCase, SigmaHasOneFormWhereverItStands) { EXPECT_EQ(split_words("ΣΟΦΟΣ"), (Words{"σοφοσ"})); }

TEST(LowerCase, DottedCapitalI) { EXPECT_EQ(split_words("İSTANBUL"), (Words{"istanbul"})); }

TEST(LowerCase, KelvinSignIsK) { EXPECT_EQ(split_words("\u212A"), (Words{"k"})); }

}  // namespace minilm
