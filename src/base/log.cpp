#include "base/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <stax/base/error.h>

#include <mutex>
#include <sstream>

#include "base/env.h"

namespace stax::base {
namespace {
constexpr std::string_view kNames[] = {"trace", "debug", "info", "warn", "error", "off"};
}

namespace detail {

std::atomic<int> log_threshold = -1;

int read_log_threshold() {
  int level = static_cast<int>(LogLevel::warn);
  try {
    const auto name = env_choice("STAX_LOG").value_or("warn");
    for (int i = 0; i < 6; ++i) {
      if (kNames[i] == name) level = i;
    }
  } catch (const UserError&) {
    // Logging never throws; check_environment() reports the bad value.
  }
  int unread = -1;
  log_threshold.compare_exchange_strong(unread, level);
  return log_threshold.load();
}

}  // namespace detail

namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

std::shared_ptr<spdlog::logger> make_logger(spdlog::sink_ptr sink, const std::string& pattern) {
  auto logger = std::make_shared<spdlog::logger>("stax", std::move(sink));
  logger->set_level(spdlog::level::trace);
  logger->set_pattern(pattern);
  logger->flush_on(spdlog::level::trace);
  return logger;
}

// The current logger; leaked, so that static destructors may still log.
struct Current {
  std::mutex mutex;
  std::shared_ptr<spdlog::logger> logger = make_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>(), "[stax] %v");
};

Current& current() {
  static auto* const value = new Current;
  return *value;
}

}  // namespace

void log(LogLevel level, std::string_view message) {
  if (level == LogLevel::off || !log_enabled(level)) return;
  auto& [mutex, logger] = current();
  std::shared_ptr<spdlog::logger> target;
  {
    const std::lock_guard lock(mutex);
    target = logger;
  }
  const std::string line = fmt::format("[{}] {}", kNames[static_cast<int>(level)], message);
  target->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

void set_log_level(LogLevel level) { detail::log_threshold.store(static_cast<int>(level)); }

struct LogCapture::State {
  std::ostringstream stream;
  std::shared_ptr<spdlog::logger> before;
  int threshold = 0;
};

LogCapture::LogCapture(LogLevel level) : state_(std::make_unique<State>()) {
  state_->threshold = detail::log_threshold.exchange(static_cast<int>(level));
  const std::lock_guard lock(current().mutex);
  state_->before = current().logger;
  current().logger = make_logger(std::make_shared<spdlog::sinks::ostream_sink_mt>(state_->stream), "%v");
}

LogCapture::~LogCapture() {
  detail::log_threshold.store(state_->threshold);
  const std::lock_guard lock(current().mutex);
  current().logger = state_->before;
}

std::string LogCapture::text() const { return state_->stream.str(); }

}  // namespace stax::base
