#include "runtime/cuda/context.h"

#include <fmt/format.h>
#include <stax/base/error.h>

namespace stax::runtime {

namespace {
constexpr int kCapability = 90;
thread_local const CudaContext* t_current = nullptr;
}  // namespace

CudaContext::CudaContext(const CudaDriver& driver, int index) : driver_(driver), index_(index) {
  if (index < 0 || index >= driver.devices())
    throw DeviceError(fmt::format("there is no device cuda:{}: this machine has {} CUDA device{}", index,
                                  driver.devices(), driver.devices() == 1 ? " (cuda:0)" : "s"));
  driver.check(driver.device_get(&device_, index), fmt::format("device cuda:{}", index));
  auto attribute = [&](int which) {
    int value = 0;
    driver.check(driver.device_attribute(&value, which, device_), fmt::format("properties of cuda:{}", index));
    return value;
  };
  char name[256] = {};
  driver.check(driver.device_name(name, sizeof(name), device_), fmt::format("name of cuda:{}", index));
  std::size_t bytes = 0;
  driver.check(driver.device_memory(&bytes, device_), fmt::format("memory of cuda:{}", index));
  properties_ = {.name = name,
                 .multiprocessors = attribute(cu::kMultiprocessorCount),
                 .capability = 10 * attribute(cu::kCapabilityMajor) + attribute(cu::kCapabilityMinor),
                 .l2_bytes = attribute(cu::kL2CacheSize),
                 .shared_bytes = attribute(cu::kMaxSharedPerBlockOptIn),
                 .memory_bytes = static_cast<std::int64_t>(bytes)};
  max_threads_ = attribute(cu::kMaxThreadsPerBlock);
  if (properties_.capability != kCapability)
    throw DeviceError(fmt::format("cuda:{} ({}) has compute capability {}.{}; kernels are built for 9.0 (sm_90a)",
                                  index, properties_.name, properties_.capability / 10, properties_.capability % 10));
  driver.check(driver.primary_context_retain(&context_, device_), fmt::format("context of cuda:{}", index));
  make_current();
  const cu::Result made = driver.stream_create(&stream_, cu::kStreamNonBlocking);
  if (made != cu::kSuccess) {
    t_current = nullptr;
    driver.primary_context_release(device_);
    driver.fail(made, fmt::format("stream of cuda:{}", index));
  }
}

CudaContext::~CudaContext() {
  if (driver_.context_set_current(context_) == cu::kSuccess) driver_.stream_destroy(stream_);
  driver_.primary_context_release(device_);
  if (t_current == this) t_current = nullptr;
}

std::string CudaContext::name() const { return fmt::format("cuda:{}", index_); }

void CudaContext::make_current() const {
  if (t_current == this) [[likely]]
    return;
  driver_.check(driver_.context_set_current(context_), fmt::format("context of {}", name()));
  t_current = this;
}

void CudaContext::wait(cu::StreamHandle stream) const {
  make_current();
  check(driver_.stream_synchronize(stream), "waiting for the work");
}

// Errors of kernels arrive at some later call; none but invalid arguments and lack of memory belongs to the call
// itself.
void CudaContext::fail(cu::Result result, std::string_view what) const {
  std::string text = fmt::format("{}: {}: {}", name(), what, driver_.text_of(result));
  if (result >= cu::kIllegalAddress) {
    std::string kernels;
    const unsigned next = next_recent_.load(std::memory_order_relaxed);
    for (unsigned i = 0; i < kRecent; ++i)
      if (const char* k = recent_[(next - 1 - i) % kRecent].load(std::memory_order_relaxed))
        kernels += fmt::format("{}{}", kernels.empty() ? "" : ", ", k);
    text += ". The device cannot be used by this process any more";
    if (!kernels.empty())
      text += fmt::format(
          "; the last kernels launched, latest first: {}. With CUDA_LAUNCH_BLOCKING=1 the kernel that fails is the "
          "first of them",
          kernels);
  }
  throw DeviceError(text);
}

void CudaContext::refuse_in_capture(std::string_view what) const {
  if (capturing()) throw DeviceError(fmt::format("{}: {} while a CUDA graph is captured", name(), what));
}

CudaEvent::CudaEvent(const CudaContext& context, bool timing) : context_(&context) {
  context.make_current();
  context.check(context.driver().event_create(&handle_, timing ? cu::kEventTiming : cu::kEventNoTiming),
                "making an event");
}
CudaEvent::~CudaEvent() {
  if (handle_) context_->driver().event_destroy(handle_);
}
void CudaEvent::record(Stream stream) {
  context_->make_current();
  context_->check(context_->driver().event_record(handle_, context_->handle_of(stream)), "recording an event");
}
void CudaEvent::wait() const {
  context_->make_current();
  context_->check(context_->driver().event_synchronize(handle_), "waiting for an event");
}
bool CudaEvent::done() const {
  context_->make_current();
  const cu::Result r = context_->driver().event_query(handle_);
  if (r == cu::kNotReady) return false;
  context_->check(r, "asking for an event");
  return true;
}
double CudaEvent::milliseconds_since(const CudaEvent& begin) const {
  float ms = 0;
  context_->make_current();
  context_->check(context_->driver().event_elapsed(&ms, begin.handle_, handle_), "time between events");
  return ms;
}

}  // namespace stax::runtime
