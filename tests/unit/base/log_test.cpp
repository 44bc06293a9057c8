#include "base/log.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <thread>
#include <vector>

namespace stax::base {

TEST(Log, WritesOnlyEnabledLevels) {
  const LogCapture capture(LogLevel::info);
  EXPECT_TRUE(log_enabled(LogLevel::info));
  EXPECT_FALSE(log_enabled(LogLevel::debug));
  log(LogLevel::debug, "hidden");
  log(LogLevel::info, "shown {} %s");
  log(LogLevel::error, "bad");
  EXPECT_EQ(capture.text(), "[info] shown {} %s\n[error] bad\n");
}

TEST(Log, OffIsSilent) {
  const LogCapture capture(LogLevel::off);
  log(LogLevel::error, "hidden");
  log(LogLevel::off, "hidden");
  EXPECT_EQ(capture.text(), "");
}

TEST(Log, TheLevelComesFromTheEnvironment) {
  ::setenv("STAX_LOG", "error", 1);
  detail::log_threshold = -1;
  EXPECT_FALSE(log_enabled(LogLevel::warn));
  EXPECT_TRUE(log_enabled(LogLevel::error));
  ::setenv("STAX_LOG", "nonsense", 1);
  detail::log_threshold = -1;
  EXPECT_TRUE(log_enabled(LogLevel::warn));
  EXPECT_FALSE(log_enabled(LogLevel::info));
  ::unsetenv("STAX_LOG");
  detail::log_threshold = -1;
}

TEST(LogConcurrency, LinesOfThreadsStayWhole) {
  const LogCapture capture;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 50; ++n) log(LogLevel::warn, "line");
    });
  }
  for (auto& thread : threads) thread.join();
  std::string want;
  for (int i = 0; i < 200; ++i) want += "[warn] line\n";
  EXPECT_EQ(capture.text(), want);
}

}  // namespace stax::base
