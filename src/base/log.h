// Log lines on standard error. STAX_LOG selects the level; the default is warn.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <string_view>

namespace stax::base {

enum class LogLevel { trace, debug, info, warn, error, off };

namespace detail {
extern std::atomic<int> log_threshold;  // -1 until STAX_LOG was read
int read_log_threshold();
}  // namespace detail

// Cheap: test it before building an expensive message.
inline bool log_enabled(LogLevel level) {
  int threshold = detail::log_threshold.load(std::memory_order_relaxed);
  if (threshold < 0) [[unlikely]]
    threshold = detail::read_log_threshold();
  return static_cast<int>(level) >= threshold;
}

// Writes one line "[stax] [warn] message" when the level is enabled. Thread-safe.
void log(LogLevel level, std::string_view message);

void set_log_level(LogLevel level);

// While it lives, log lines of all threads go to this object instead of standard error. For tests. Do not nest.
class LogCapture {
 public:
  explicit LogCapture(LogLevel level = LogLevel::warn);
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  std::string text() const;  // "[warn] message\n…"

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stax::base
