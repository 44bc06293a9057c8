#include "cache/warnings.h"

#include <atomic>

#include "base/log.h"

namespace stax::cache {
namespace {
std::atomic<unsigned> given = 0;
}

void warn_once(Warning kind, const std::string& message) {
  const unsigned bit = 1U << static_cast<unsigned>(kind);
  if ((given.fetch_or(bit) & bit) == 0) base::log(base::LogLevel::warn, message);
}

void reset_warnings() { given = 0; }

}  // namespace stax::cache
