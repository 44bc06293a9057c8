// One device: its primary context, the stream that all work of Stax runs on, events.
#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/cuda/driver.h"
#include "runtime/device_runtime.h"

namespace stax::runtime {

// Thread-safe.
class CudaContext {
 public:
  // DeviceError when the device does not exist or is not of capability 9.0, which kernels are built for.
  CudaContext(const CudaDriver& driver, int index);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const CudaDriver& driver() const { return driver_; }
  int index() const { return index_; }
  std::string name() const;  // "cuda:0"
  const DeviceProperties& properties() const { return properties_; }
  int max_threads() const { return max_threads_; }  // of a program

  // Must precede every call of the driver that touches the device. Costs nothing after the thread's first call.
  void make_current() const;
  cu::StreamHandle stream() const { return stream_; }
  cu::StreamHandle handle_of(Stream s) const { return s.handle ? static_cast<cu::StreamHandle>(s.handle) : stream_; }
  // Waits for the stream. DeviceError when earlier work failed; it names the kernels launched last.
  void wait(cu::StreamHandle stream) const;
  void check(cu::Result result, std::string_view what) const {
    if (result != cu::kSuccess) [[unlikely]]
      fail(result, what);
  }
  [[noreturn]] void fail(cu::Result result, std::string_view what) const;

  // For messages: `name` must live as long as the process.
  void launched(const char* name) const {
    recent_[next_recent_.fetch_add(1, std::memory_order_relaxed) % kRecent].store(name, std::memory_order_relaxed);
  }

  bool capturing() const { return capturing_.load(std::memory_order_relaxed); }
  void set_capturing(bool on) { capturing_.store(on, std::memory_order_relaxed); }
  // DeviceError while a graph is captured.
  void refuse_in_capture(std::string_view what) const;

 private:
  static constexpr unsigned kRecent = 4;

  const CudaDriver& driver_;
  int index_;
  cu::DeviceId device_ = 0;
  cu::Context context_ = nullptr;
  cu::StreamHandle stream_ = nullptr;
  DeviceProperties properties_;
  int max_threads_ = 0;
  std::atomic<bool> capturing_{false};
  mutable std::atomic<unsigned> next_recent_{0};
  mutable std::atomic<const char*> recent_[kRecent] = {};
};

// A point in a stream's work.
class CudaEvent {
 public:
  explicit CudaEvent(const CudaContext& context, bool timing = true);
  ~CudaEvent();
  CudaEvent(CudaEvent&& o) noexcept : context_(o.context_), handle_(std::exchange(o.handle_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&&) = delete;

  void record(Stream stream = {});
  void wait() const;  // until the work before the last record is done
  bool done() const;
  double milliseconds_since(const CudaEvent& begin) const;  // both with timing, recorded and done

 private:
  const CudaContext* context_;
  cu::EventHandle handle_ = nullptr;
};

}  // namespace stax::runtime
