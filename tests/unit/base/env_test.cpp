#include "base/env.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "base/log.h"
#include "message.h"

namespace stax::base {

namespace {
// Sets a variable for one test.
class WithEnv {
 public:
  WithEnv(const char* name, const char* value) : name_(name) {
    if (const char* old = ::getenv(name)) old_ = old;
    ::setenv(name, value, 1);
  }
  ~WithEnv() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
  WithEnv(const WithEnv&) = delete;
  WithEnv& operator=(const WithEnv&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};
}  // namespace

TEST(Env, TheTableIsSortedAndDocumented) {
  EXPECT_TRUE(std::ranges::is_sorted(env_variables(), {}, &EnvVariable::name));
  for (const auto& entry : env_variables()) {
    EXPECT_TRUE(entry.name.starts_with("STAX_")) << entry.name;
    EXPECT_FALSE(entry.doc.empty()) << entry.name;
    EXPECT_EQ(entry.values.empty(), entry.kind == EnvKind::flag) << entry.name;
  }
}

TEST(Env, UnsetAndEmptyGiveNothing) {
  ::unsetenv("STAX_EAGER");
  EXPECT_FALSE(env_choice("STAX_EAGER"));
  const WithEnv set("STAX_EAGER", "");
  EXPECT_FALSE(env_choice("STAX_EAGER"));
}

TEST(Env, AWrongChoiceListsTheValidOnes) {
  const WithEnv set("STAX_EAGER", "fast");
  EXPECT_EQ(message_of([] { env_choice("STAX_EAGER"); }),
            "environment variable STAX_EAGER: 'fast' is not valid. Valid values: compiled, reference");
}

TEST(Env, ADeviceMayCarryANumber) {
  {
    const WithEnv set("STAX_DEVICE", "cuda:12");
    EXPECT_EQ(env_choice("STAX_DEVICE"), "cuda:12");
  }
  for (const char* wrong : {"cuda:", "cuda:x", "cuda1", "CPU"}) {
    const WithEnv set("STAX_DEVICE", wrong);
    EXPECT_EQ(message_of([] { env_choice("STAX_DEVICE"); }),
              std::string("environment variable STAX_DEVICE: '") + wrong +
                  "' is not valid. Valid values: cpu, cuda, cuda:N, null");
  }
}

TEST(Env, FlagsHaveWords) {
  const WithEnv on("STAX_CHECKS", "on");
  EXPECT_EQ(env_flag("STAX_CHECKS"), true);
  const WithEnv off("STAX_CHECKS", "0");
  EXPECT_EQ(env_flag("STAX_CHECKS"), false);
  const WithEnv wrong("STAX_CHECKS", "maybe");
  EXPECT_EQ(
      message_of([] { env_flag("STAX_CHECKS"); }),
      "environment variable STAX_CHECKS: 'maybe' is not valid. Valid values: 1, true, on, yes, 0, false, off, no");
}

TEST(Env, IntegersHaveBounds) {
  const WithEnv good("STAX_THREADS", "4");
  EXPECT_EQ(env_integer("STAX_THREADS"), 4);
  for (const char* wrong : {"0", "4097", "4x", "-1", "99999999999999999999"}) {
    const WithEnv set("STAX_THREADS", wrong);
    EXPECT_EQ(message_of([] { env_integer("STAX_THREADS"); }),
              std::string("environment variable STAX_THREADS: '") + wrong +
                  "' is not valid. Valid values: an integer from 1 to 4096");
  }
}

TEST(Env, AnUndocumentedNameIsOurFault) {
  EXPECT_THROW(env_text("STAX_NO_SUCH"), InternalError);
  EXPECT_THROW(env_flag("STAX_DEVICE"), InternalError);
}

TEST(Env, CheckRejectsAnyBadValue) {
  const WithEnv set("STAX_LOG", "loud");
  EXPECT_EQ(message_of([] { check_environment(); }),
            "environment variable STAX_LOG: 'loud' is not valid. Valid values: trace, debug, info, warn, error, off");
}

TEST(Env, UnknownVariablesAreReportedOnce) {
  const WithEnv set("STAX_DEVCIE", "cpu");
  const LogCapture capture;
  const auto unknown = check_environment();
  EXPECT_NE(std::ranges::find(unknown, "STAX_DEVCIE"), unknown.end());
  check_environment();
  EXPECT_EQ(capture.text(), "[warn] unknown environment variable STAX_DEVCIE; `stax doctor` lists the known ones\n");
}

}  // namespace stax::base
